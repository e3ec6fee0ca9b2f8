import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { sendEmpty } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { baseUrlOf } from "../formats/request-view.ts";
import type { HttpConfig } from "../http-config.ts";
import { integerParam, integerQuery, queryOf } from "./query.ts";
import { type Route, routeGroup } from "./route.ts";

const mostRedirects = 100;

export const redirectRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Redirects", [
    {
      path: "/redirect/:count",
      methods: ["GET"],
      summary: "Redirects this many times, then to /get",
      query: { absolute: "true for absolute URLs" },
      handle: (request, response) =>
        hop(request, response, queryOf(request).get("absolute")?.toLowerCase() === "true" ? "absolute" : "relative"),
    },
    {
      path: "/relative-redirect/:count",
      methods: ["GET"],
      summary: "The same with relative locations",
      handle: (request, response) => hop(request, response, "relative"),
    },
    {
      path: "/absolute-redirect/:count",
      methods: ["GET"],
      summary: "The same with absolute locations",
      handle: (request, response) => hop(request, response, "absolute"),
    },
    {
      path: "/redirect-to",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"],
      summary: "Redirects to a URL on this computer or on an allowed host",
      query: { url: "where to", status_code: "300 to 399, 302 without" },
      handle: (request, response) => redirectTo(request, response, config.redirectHosts),
    },
  ]);

function hop(request: HttpRequest, response: HttpResponse, kind: "relative" | "absolute"): void {
  const count = integerParam(request, "count", 1);
  if (count > mostRedirects) throw new HttpRefusal(400, `Invalid count: at most ${mostRedirects}`);
  const path = count === 1 ? "/get" : `/${kind}-redirect/${count - 1}`;
  sendEmpty(response, 302, { Location: kind === "absolute" ? baseUrlOf(request) + path : path });
}

function redirectTo(request: HttpRequest, response: HttpResponse, allowedHosts: readonly string[]): void {
  const query = new Map([...queryOf(request)].map(([name, value]) => [name.toLowerCase(), value]));
  const asked = query.get("url");
  if (!asked) throw new HttpRefusal(400, "Invalid url: the query field is missing");
  const base = baseUrlOf(request);
  const url = URL.canParse(asked, base) ? new URL(asked, base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new HttpRefusal(400, "Invalid url: http or https is needed");
  if (url.origin !== new URL(base).origin && !isAllowedHost(url.hostname, allowedHosts)) {
    throw new HttpRefusal(403, "Forbidden redirect host; it can be allowed in the configuration (HTTP_REDIRECT_HOSTS)");
  }
  const status = integerQuery({ get: (name) => query.get(name) ?? null }, "status_code", { fallback: 302, minimum: 300, maximum: 399 });
  sendEmpty(response, status, { Location: readsAlikeEverywhere(asked) ? asked : url.href });
}

/** Clients parse "http:host" and backslashes differently: such URLs are sent in normalized form. */
const readsAlikeEverywhere = (asked: string) => /^[\x21-\x5b\x5d-\x7e]+$/.test(asked) && !/^https?:(?!\/\/)/i.test(asked);

function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host)) return true;
  return allowed.some((entry) => {
    const name = entry.toLowerCase();
    return name === "*" || name === host || (name.startsWith("*.") && host.endsWith(name.slice(1)));
  });
}
