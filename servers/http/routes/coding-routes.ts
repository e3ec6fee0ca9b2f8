import { promisify } from "node:util";
import zlib from "node:zlib";
import { send, varyBy } from "../../core/http/http-answer.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { headersOf, originOf } from "../formats/request-view.ts";
import { type Route, routeGroup } from "./route.ts";

const codings = {
  gzip: { token: "gzip", encode: promisify<Buffer, Buffer>(zlib.gzip), mark: "gzipped" },
  deflate: { token: "deflate", encode: promisify<Buffer, Buffer>(zlib.deflate), mark: "deflated" },
  brotli: { token: "br", encode: promisify<Buffer, Buffer>(zlib.brotliCompress), mark: "brotli" },
} as const;

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
  const body = await encode(Buffer.from(`${JSON.stringify(shown, null, 2)}\n`));
  varyBy(response, "Accept-Encoding");
  send(response, 200, "application/json; charset=utf-8", body, { "Content-Encoding": token });
}
