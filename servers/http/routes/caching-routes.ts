import { randomBytes } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { viewRequest } from "../formats/request-view.ts";
import { integerParam, textParam } from "./query.ts";
import { sendError, sendPrettyJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const cachingRoutes = (): readonly Route[] =>
  routeGroup("Caching", [
    { path: "/etag/:etag", methods: ["GET"], summary: "Has this entity tag; honours If-Match and If-None-Match", handle: entityTag },
    { path: "/cache", methods: ["GET"], summary: "304 for any If-Modified-Since or If-None-Match", handle: cache },
    {
      path: "/cache/:seconds",
      methods: ["GET"],
      summary: "May be cached for this many seconds",
      handle: (request, response) =>
        sendPrettyJson(response, viewRequest(request), { "Cache-Control": `public, max-age=${integerParam(request, "seconds")}` }),
    },
  ]);

function entityTag(request: HttpRequest, response: HttpResponse): void {
  const asked = textParam(request, "etag");
  const quoted = /^(?:W\/)?".*"$/.test(asked) ? asked : `"${asked}"`;
  if (!/^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(quoted)) throw new HttpRefusal(400, "Invalid entity tag");
  const ETag = quoted;
  const ifMatch = request.headers["if-match"];
  const ifNoneMatch = request.headers["if-none-match"];
  // RFC 9110 §13.2.2: If-Match comes first.
  if (ifMatch !== undefined && !etagMatches(ifMatch, ETag, "strong")) sendError(response, 412, "The entity tag does not match", { ETag });
  else if (ifNoneMatch !== undefined && etagMatches(ifNoneMatch, ETag, "weak")) sendEmpty(response, 304, { ETag });
  else sendPrettyJson(response, viewRequest(request), { ETag });
}

function cache(request: HttpRequest, response: HttpResponse): void {
  if (request.headers["if-modified-since"] !== undefined || request.headers["if-none-match"] !== undefined) {
    sendEmpty(response, 304);
    return;
  }
  sendPrettyJson(response, viewRequest(request), {
    "Last-Modified": new Date().toUTCString(),
    ETag: `"${randomBytes(16).toString("hex")}"`,
  });
}

/** RFC 9110 §8.8.3.2; a strong comparison never matches a weak tag. `field` is a list of tags or "*". */
export function etagMatches(field: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (field.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  for (const [, weak, tag] of field.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*"|[^",\s]+)/g)) {
    // Some clients omit the quotes.
    const sameTag = tag === opaque || `"${tag}"` === opaque;
    if (sameTag && (comparison === "weak" || (weak === undefined && !etag.startsWith("W/")))) return true;
  }
  return false;
}
