import { createHash } from "node:crypto";
import { validateHeaderValue } from "node:http";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { readBody } from "../formats/content-coding.ts";
import type { HttpConfig } from "../http-config.ts";
import { queryOf } from "./query.ts";
import { type Route, routeGroup } from "./route.ts";

export const responseHeaderRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Answers", [
    {
      path: "/response-headers",
      methods: ["GET", "POST"],
      summary: "Sets the header fields named in the query and shows them",
      query: { "any name": "its value" },
      handle: sendWithHeaders,
    },
    {
      path: "/trailers",
      methods: ["GET", "POST", "PUT"],
      summary: "The trailer fields that came; sends some of its own",
      handle: (request, response) => sendTrailers(request, response, config.bodyBytes),
    },
  ]);

/** Never set by callers: they could turn the answer into a page or lift its CORS rule. */
const kept = /^(?:content-(?:type|security-policy)|x-content-type-options|access-control-.*|vary)$/i;
/** They would break the framing of the message, redirect the client, or change what a browser keeps for the whole host. */
const refused =
  /^(?:content-(?:length|encoding|range)|transfer-encoding|connection|keep-alive|proxy-.*|trailer|te|upgrade|refresh|date|clear-site-data|strict-transport-security)$/i;

interface AskedField {
  readonly name: string;
  readonly values: string[];
}

function sendWithHeaders(request: HttpRequest, response: HttpResponse): void {
  /** By the name in lower case: fields have names in any case (RFC 9110 §5.1). */
  const asked = new Map<string, AskedField>();
  for (const [name, value] of queryOf(request)) {
    if (refused.test(name)) throw new HttpRefusal(400, `The field ${name} cannot be set`);
    if (kept.test(name)) continue;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !isFieldValue(name, value)) throw new HttpRefusal(400, "Invalid header field");
    const known = asked.get(name.toLowerCase());
    if (known) known.values.push(value);
    else asked.set(name.toLowerCase(), { name, values: [value] });
  }
  response.setHeader("Content-Type", jsonType);
  const fields = [...asked.values()];
  for (const { name, values } of fields) response.setHeader(name, values.length === 1 ? (values[0] ?? "") : values);
  const body = bodyWithItsLength(fields);
  response.setHeader("Content-Length", body.length);
  response.end(body);
}

function isFieldValue(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** The body contains its own Content-Length. */
function bodyWithItsLength(asked: readonly AskedField[]): Buffer {
  const shown = Object.create(null) as Record<string, unknown>;
  shown["Content-Length"] = "";
  shown["Content-Type"] = jsonType;
  for (const { name, values } of asked) shown[name] = values.length === 1 ? values[0] : values;
  const text = `${JSON.stringify(shown, null, 2)}\n`;
  const others = Buffer.byteLength(text);
  let length = others;
  while (length !== others + String(length).length) length = others + String(length).length;
  return Buffer.from(text.replace('"Content-Length": ""', `"Content-Length": "${length}"`));
}

async function sendTrailers(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<void> {
  const body = await readBody(request, response, limitBytes);
  const shown = `${JSON.stringify({ trailers: request.trailers, announced: request.headers.trailer ?? null, bytes: body.length }, null, 2)}\n`;
  response.setHeader("Content-Type", jsonType);
  // HTTP/1.0 has no chunks, and so no trailers; no more has an answer without content.
  if (request.httpVersion !== "1.0" && request.method !== "HEAD") {
    response.setHeader("Trailer", "X-Body-Bytes, X-Body-SHA256");
    response.addTrailers({ "X-Body-Bytes": String(body.length), "X-Body-SHA256": createHash("sha256").update(body).digest("hex") });
  }
  response.write(shown);
  response.end();
}
