import { sendError } from "../reply.ts";
import { type Route, routeGroup } from "../route.ts";
import { webSocketPath } from "../websocket-echo.ts";

export const webSocketRoutes = (): readonly Route[] =>
  routeGroup("WebSocket", [
    {
      path: webSocketPath,
      methods: ["GET"],
      summary: "A WebSocket that sends every message back",
      // Only a request that did not ask for a WebSocket gets here. RFC 9110 §15.5.22.
      handle: (_request, response) =>
        sendError(response, 426, "This path speaks WebSocket", { Upgrade: "websocket", Connection: "Upgrade" }),
    },
  ]);
