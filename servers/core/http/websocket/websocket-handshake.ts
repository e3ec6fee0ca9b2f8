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

export interface HandshakeFault {
  readonly status: 400 | 426;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is wrong with a request for a WebSocket; RFC 6455 §4.2.2, §4.4. */
export function handshakeFault(request: IncomingMessage): HandshakeFault | undefined {
  const { headers } = request;
  if (!asksForWebSocket(request)) return { status: 400, message: "This is no request for a WebSocket" };
  if (!key.test(headers["sec-websocket-key"] ?? "")) return { status: 400, message: "Missing or invalid Sec-WebSocket-Key header" };
  if (headers["sec-websocket-version"] !== "13") {
    return {
      status: 426,
      message: "Missing or invalid Sec-WebSocket-Version header",
      headers: { "Sec-WebSocket-Version": "13", Upgrade: "websocket" },
    };
  }
  const offered = headers["sec-websocket-protocol"];
  if (offered !== undefined && !isProtocolList(offered)) return { status: 400, message: "Invalid Sec-WebSocket-Protocol header" };
  return undefined;
}

/** The error of a handshake, or undefined. `setting` is the variable of the setting with the allowed origins. */
export function handshakeProblem(request: IncomingMessage, allowsOrigin: OriginRule, setting: string): HttpRefusal | undefined {
  const fault = handshakeFault(request);
  if (fault) {
    const connection = fault.headers?.Upgrade === undefined ? "close" : "Upgrade, close";
    return new HttpRefusal(fault.status, fault.message, { headers: { ...fault.headers, Connection: connection } });
  }
  // RFC 6455 §10.2: browsers let every page connect and leave the decision to the server. A page of the service itself may.
  if (!allowsOrigin(request.headers.origin) && !isOfOwnPage(request)) {
    return new HttpRefusal(403, `Pages of this origin may not open a WebSocket; it can be allowed in the configuration (${setting})`, {
      headers: { Connection: "close" },
    });
  }
  return undefined;
}

/** The subprotocols of a valid handshake. */
export const offeredProtocols = (request: IncomingMessage): string[] => namesOf(request.headers["sec-websocket-protocol"] ?? "");

const namesOf = (text: string): string[] => (text === "" ? [] : text.split(",").map((name) => name.trim()));

function isProtocolList(text: string): boolean {
  // Looked at before it is the client's turn.
  if (text.length > longestProtocols || !protocolList.test(text)) return false;
  const names = namesOf(text);
  return new Set(names).size === names.length;
}
