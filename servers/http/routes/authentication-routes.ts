import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { textParam } from "./query.ts";
import { sendError, sendPrettyJson } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const authenticationRoutes = (): readonly Route[] =>
  routeGroup("Authentication", [
    {
      path: "/basic-auth/:user/:password",
      methods: ["GET"],
      summary: "Basic authentication (RFC 7617)",
      handle: (request, response) =>
        basic(request, response, () =>
          sendError(response, 401, "Unauthorized", { "WWW-Authenticate": 'Basic realm="backlot", charset="UTF-8"' }),
        ),
    },
    {
      path: "/hidden-basic-auth/:user/:password",
      methods: ["GET"],
      summary: "The same, but 404 without the right credentials",
      handle: (request, response) => basic(request, response, () => sendError(response, 404, "Not found")),
    },
    { path: "/bearer", methods: ["GET"], summary: "Takes any bearer token (RFC 6750)", handle: bearer },
  ]);

function basic(request: HttpRequest, response: HttpResponse, refuse: () => void): void {
  const user = textParam(request, "user");
  const credentials = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(request.headers.authorization ?? "")?.[1];
  const given = credentials === undefined ? undefined : Buffer.from(credentials, "base64").toString("utf8");
  if (given === undefined || !sameText(given, `${user}:${textParam(request, "password")}`)) refuse();
  else sendPrettyJson(response, { authenticated: true, user });
}

function bearer(request: HttpRequest, response: HttpResponse): void {
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token === undefined) sendError(response, 401, "Unauthorized", { "WWW-Authenticate": "Bearer" });
  else sendPrettyJson(response, { authenticated: true, token });
}

/** In constant time: the duration does not reveal how much is equal. */
export const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

const digest = (text: string) => createHash("sha256").update(text).digest();
