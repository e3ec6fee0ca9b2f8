import { HttpProblem } from "../http-problem.ts";
import { type Route, routeGroup } from "../route.ts";
import { handshakeProblem, offersWebSocket, webSocketPath } from "../websocket-handshake.ts";

export const webSocketRoutes = (): readonly Route[] =>
  routeGroup("WebSocket", [
    {
      path: webSocketPath,
      methods: ["GET"],
      summary: "A WebSocket that sends every message back",
      // Only what is no good offer of a WebSocket gets here. RFC 9110 §15.5.22.
      handle(request) {
        const problem = offersWebSocket(request) ? handshakeProblem(request) : undefined;
        throw problem ?? new HttpProblem(426, "This path speaks WebSocket", { Upgrade: "websocket", Connection: "Upgrade" });
      },
    },
  ]);
