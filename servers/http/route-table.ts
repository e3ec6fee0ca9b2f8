import type { HttpConfig } from "./http-config.ts";
import type { Route } from "./route.ts";
import { authenticationRoutes } from "./routes/authentication-routes.ts";
import { byteRoutes } from "./routes/byte-routes.ts";
import { cachingRoutes } from "./routes/caching-routes.ts";
import { codingRoutes } from "./routes/coding-routes.ts";
import { cookieRoutes } from "./routes/cookie-routes.ts";
import { digestRoutes } from "./routes/digest-routes.ts";
import { documentRoutes } from "./routes/document-routes.ts";
import { echoRoutes } from "./routes/echo-routes.ts";
import { failureRoutes } from "./routes/failure-routes.ts";
import { imageRoutes } from "./routes/image-routes.ts";
import { inspectionRoutes } from "./routes/inspection-routes.ts";
import { listRoutes } from "./routes/list-routes.ts";
import { rangeRoutes } from "./routes/range-routes.ts";
import { redirectRoutes } from "./routes/redirect-routes.ts";
import { referenceRoutes } from "./routes/reference-routes.ts";
import { responseHeaderRoutes } from "./routes/response-header-routes.ts";
import { statusRoutes } from "./routes/status-routes.ts";
import { streamRoutes } from "./routes/stream-routes.ts";
import { trailerRoutes } from "./routes/trailer-routes.ts";
import { webSocketRoutes } from "./routes/websocket-routes.ts";
import type { SseHub } from "./sse/sse-hub.ts";

/** Every route, those asked for most first: Express tries them in this order. */
export function routeTable(config: HttpConfig, hub: SseHub): readonly Route[] {
  const routes = [
    ...referenceRoutes(config),
    ...echoRoutes(config),
    ...streamRoutes(config, hub),
    ...inspectionRoutes(config),
    ...statusRoutes(),
    ...responseHeaderRoutes(),
    ...trailerRoutes(config),
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
    ...webSocketRoutes(),
  ];
  return [...routes, ...listRoutes(routes)];
}
