import type { IncomingMessage } from "node:http";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { asksForWebSocket, type OriginRule, handshakeProblem as problemOf } from "../../core/http/websocket/websocket-handshake.ts";
import { webSocketPath } from "../http-snippets.ts";
import { type Route, routeGroup } from "../routes/route.ts";

export const offersWebSocket = (request: IncomingMessage): boolean =>
  asksForWebSocket(request) && (request.url ?? "").split("?", 1)[0] === webSocketPath;

/** The error of a handshake, or undefined. */
export const handshakeProblem = (request: IncomingMessage, allowsOrigin: OriginRule) =>
  problemOf(request, allowsOrigin, "HTTP_CORS_ORIGINS");

export const webSocketRoutes = (allowsOrigin: OriginRule): readonly Route[] =>
  routeGroup("WebSocket", [
    {
      path: webSocketPath,
      methods: ["GET"],
      summary: "A WebSocket that sends every message back",
      // Only invalid upgrade requests get here. RFC 9110 §15.5.22.
      handle(request) {
        const problem = offersWebSocket(request) ? handshakeProblem(request, allowsOrigin) : undefined;
        throw (
          problem ?? new HttpRefusal(426, "This path speaks WebSocket", { headers: { Upgrade: "websocket", Connection: "Upgrade, close" } })
        );
      },
    },
  ]);
