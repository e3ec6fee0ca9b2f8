import { promisify } from "node:util";
import zlib from "node:zlib";
import { runElsewhereForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType, send, varyBy } from "../../core/http/messages/http-answer.ts";
import { headersOf, originOf } from "../formats/request-view.ts";
import { type Route, routeGroup } from "./route.ts";

const gzip = promisify<Buffer, Buffer>(zlib.gzip);
const deflate = promisify<Buffer, Buffer>(zlib.deflate);
const brotliCompress = promisify(zlib.brotliCompress);

const codings = {
  gzip: { token: "gzip", encode: gzip, mark: "gzipped" },
  deflate: { token: "deflate", encode: deflate, mark: "deflated" },
  brotli: { token: "br", encode: brotli, mark: "brotli" },
} as const;

/** As servers do it for each answer; the best compression takes tens of milliseconds. */
function brotli(body: Buffer): Promise<Buffer> {
  return brotliCompress(body, {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.length },
  });
}

export const codingRoutes = (): readonly Route[] =>
  routeGroup(
    "Content codings",
    (Object.keys(codings) as (keyof typeof codings)[]).map((name) => ({
      path: `/${name}`,
      methods: ["GET"],
      summary: `An answer in ${name}`,
      handle: (request, response) => sendCoded(request, response, name),
    })),
  );

async function sendCoded(request: HttpRequest, response: HttpResponse, name: keyof typeof codings): Promise<void> {
  const { token, encode, mark } = codings[name];
  const shown = { [mark]: true, headers: headersOf(request), method: request.method, origin: originOf(request) };
  const body = await runElsewhereForClient(request, () => encode(Buffer.from(`${JSON.stringify(shown, null, 2)}\n`)));
  varyBy(response, "Accept-Encoding");
  send(response, 200, jsonType, body, { "Content-Encoding": token });
}
