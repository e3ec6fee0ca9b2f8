import { HttpInspector } from "./http/http-inspector.tsx";
import type { Inspectors } from "./inspector-frame.tsx";
import { WebSocketInspector } from "./websocket/websocket-inspector.tsx";
import { WebSocketMessageInspector } from "./websocket/websocket-message-inspector.tsx";

/** Inspectors of the kinds of detail that every HTTP service records. */
export const httpInspectors: Inspectors = {
  http: HttpInspector,
  websocket: WebSocketInspector,
  "websocket-message": WebSocketMessageInspector,
};
