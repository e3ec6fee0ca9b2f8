import { createOriginRule } from "../../core/http/messages/cors.ts";
import type { HttpConfig } from "../http-config.ts";
import type { SseHub } from "../sse/sse-hub.ts";
import { webSocketRoutes } from "../websocket/websocket-handshake.ts";
import { authenticationRoutes } from "./authentication-routes.ts";
import { byteRoutes } from "./byte-routes.ts";
import { cachingRoutes } from "./caching-routes.ts";
import { codingRoutes } from "./coding-routes.ts";
import { cookieRoutes } from "./cookie-routes.ts";
import { digestRoutes } from "./digest-routes.ts";
import { documentRoutes } from "./document-routes.ts";
import { echoRoutes } from "./echo-routes.ts";
import { failureRoutes } from "./failure-routes.ts";
import { imageRoutes } from "./image-routes.ts";
import { inspectionRoutes } from "./inspection-routes.ts";
import { listRoutes } from "./list-routes.ts";
import { rangeRoutes } from "./range-routes.ts";
import { redirectRoutes } from "./redirect-routes.ts";
import { referenceRoutes } from "./reference-routes.ts";
import { responseHeaderRoutes } from "./response-header-routes.ts";
import type { Route } from "./route.ts";
import { statusRoutes } from "./status-routes.ts";
import { streamRoutes } from "./stream-routes.ts";

/** Every route, in the order in which the list shows them. */
export function routeTable(config: HttpConfig, hub: SseHub): readonly Route[] {
  const routes = [
    ...referenceRoutes(config),
    ...echoRoutes(config),
    ...streamRoutes(config, hub),
    ...inspectionRoutes(config),
    ...statusRoutes(),
    ...responseHeaderRoutes(config),
    ...redirectRoutes(config),
    ...cookieRoutes(),
    ...authenticationRoutes(),
    ...digestRoutes(config),
    ...codingRoutes(),
    ...byteRoutes(config),
    ...rangeRoutes(config),
    ...cachingRoutes(),
    ...imageRoutes(),
    ...documentRoutes(config),
    ...failureRoutes(),
    ...webSocketRoutes(createOriginRule(config.corsOrigins)),
  ];
  return [...routes, ...listRoutes(routes)];
}

/** The parts of the routes' paths that hold a password or a cookie's value, also in spellings that are no route, such as behind a base URL that ends with a slash. */
const secretPath =
  /^((?:[a-z][\w+.-]*:\/\/[^/?#]*)?\/[/.]*(?:(?:hidden-)?basic-auth\/+[^/?]*|digest-auth\/+[^/?]*\/+[^/?]*|cookies\/+set\/+[^/?]*)\/)[^?]+/i;
/** Escapes of letters, digits, `-./_~`: a route's name may be written with them. */
const encodedPlain = /%(?:2[d-f]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;
const cookieQuery = /^[^?]*\/cookies\/set\/*\?/i;

/** A request target for the log, with secrets redacted. */
export function maskSecretPath(target: string): string {
  const plain = !target.includes("%") ? target : target.replace(encodedPlain, (encoded) => decodeURIComponent(encoded));
  if (!/auth\/|\/cookies\/+set/i.test(plain)) return target;
  const masked = secretPath.test(plain) ? plain.replace(secretPath, "$1…") : cookieQuery.test(plain) ? plain : target;
  return cookieQuery.test(masked) ? masked.replace(/([?&][^=&?]*)=[^&]*/g, "$1=…") : masked;
}
