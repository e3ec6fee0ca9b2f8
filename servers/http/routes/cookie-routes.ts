import { percentDecoded } from "../../../contract/percent-decoded.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { queryOf, textParam } from "./query.ts";
import { sendPrettyJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const cookieRoutes = (): readonly Route[] =>
  routeGroup("Cookies", [
    {
      path: "/cookies",
      methods: ["GET"],
      summary: "The cookies that came",
      handle: (request, response) => sendPrettyJson(response, { cookies: cookiesOf(request) }),
    },
    {
      path: "/cookies/set",
      methods: ["GET"],
      summary: "Sets a cookie for each query field, then redirects to /cookies",
      handle: (request, response) => redirectWith(response, [...queryOf(request)].map(cookie)),
    },
    {
      path: "/cookies/set/:name/:value",
      methods: ["GET"],
      summary: "Sets one cookie, then redirects to /cookies",
      handle: (request, response) => redirectWith(response, [cookie([textParam(request, "name"), textParam(request, "value")])]),
    },
    {
      path: "/cookies/delete",
      methods: ["GET"],
      summary: "Deletes the cookies named in the query, then redirects to /cookies",
      handle: (request, response) =>
        redirectWith(
          response,
          [...queryOf(request)].map(([name]) => `${cookie([name, ""])}; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT`),
        ),
    },
  ]);

export function cookiesOf(request: HttpRequest): Record<string, string> {
  const cookies = Object.create(null) as Record<string, string>;
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 1) continue;
    const name = pair.slice(0, equals).trim();
    // RFC 6265 §5.4: of two cookies with one name the more specific comes first.
    const value = pair.slice(equals + 1).trim();
    const quoted = /^"(.*)"$/.exec(value)?.[1];
    cookies[name] ??= quoted === undefined ? value : (percentDecoded(quoted) ?? quoted);
  }
  return cookies;
}

/**
 * RFC 6265 §4.1.1: a name is a token; a value with other characters than it may contain is percent-encoded, and quoted to mark that: a value that
 * the client has made is shown as it came.
 */
function cookie([name, value]: readonly [string, string]): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new HttpRefusal(400, "Invalid cookie name");
  const isAllowed = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value);
  return `${name}=${isAllowed ? value : `"${encodeURIComponent(value)}"`}; Path=/`;
}

function redirectWith(response: HttpResponse, cookies: readonly string[]): void {
  sendEmpty(response, 302, { Location: "/cookies", ...(cookies.length > 0 && { "Set-Cookie": cookies }) });
}
