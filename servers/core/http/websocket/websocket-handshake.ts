import type { IncomingMessage } from "node:http";
import { isOfOwnPage } from "../../net/allowed-origins.ts";
import { HttpRefusal } from "../messages/http-refusal.ts";

/** Whether pages of this origin may read the answers. */
export type OriginRule = (origin: string | undefined) => boolean;

const key = /^[+/\da-z]{22}==$/i;
const longestProtocols = 1_024;
const protocolList = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** RFC 6455 §4.2.1: an upgrade request; RFC 9110 §7.8: one over HTTP/1.0 is ignored. */
export const asksForWebSocket = (request: IncomingMessage): boolean =>
  request.method === "GET" && request.httpVersion === "1.1" && request.headers.upgrade?.toLowerCase().trim() === "websocket";

/** The error of a handshake, or undefined; RFC 6455 §4.2.2, §4.4. */
export function handshakeProblem(request: IncomingMessage, allowsOrigin: OriginRule): HttpRefusal | undefined {
  const { headers } = request;
  const close = { headers: { Connection: "close" } };
  if (!key.test(headers["sec-websocket-key"] ?? "")) return new HttpRefusal(400, "Missing or invalid Sec-WebSocket-Key header", close);
  if (headers["sec-websocket-version"] !== "13") {
    return new HttpRefusal(426, "Missing or invalid Sec-WebSocket-Version header", {
      headers: { "Sec-WebSocket-Version": "13", Upgrade: "websocket", Connection: "Upgrade, close" },
    });
  }
  // RFC 6455 §10.2: browsers let every page connect and leave the decision to the server. A page of the service itself may.
  if (!allowsOrigin(headers.origin) && !isOfOwnPage(request)) {
    return new HttpRefusal(403, "Pages of this origin may not open a WebSocket; it can be allowed in the configuration", close);
  }
  const offered = headers["sec-websocket-protocol"];
  if (offered !== undefined && !isProtocolList(offered)) return new HttpRefusal(400, "Invalid Sec-WebSocket-Protocol header", close);
  return undefined;
}

function isProtocolList(text: string): boolean {
  // Looked at before it is the client's turn.
  if (text.length > longestProtocols || !protocolList.test(text)) return false;
  const names = text.split(",").map((name) => name.trim());
  return new Set(names).size === names.length;
}
