import type { Handlers } from "../../contract/operation.ts";
import type { HttpActions } from "../../contract/services/http.ts";
import type { HttpServing } from "../core/http/serve-http.ts";
import type { SseHub } from "./sse/sse-hub.ts";
import type { WebSocketTry } from "./websocket/websocket-try.ts";

/** The page's actions. */
export const createHttpActions = (serving: HttpServing, hub: SseHub, socket: WebSocketTry): Handlers<HttpActions> => ({
  ...serving.actions,
  ...socket.actions,
  "sse.send": async (event) => ({ subscribers: await hub.broadcast(event) }),
  "sse.disconnect": ({ subscriber }) => ({ disconnected: hub.disconnect(subscriber) }),
});
