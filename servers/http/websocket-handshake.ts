import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./http-problem.ts";

export const webSocketPath = "/ws/echo";

const key = /^[+/\da-z]{22}==$/i;
const protocolList = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** RFC 6455 §4.2.1: an offer at the right path; RFC 9110 §7.8: one from HTTP/1.0 is as if it had not been made. */
export const offersWebSocket = (request: IncomingMessage): boolean =>
  request.method === "GET" &&
  request.httpVersion === "1.1" &&
  request.headers.upgrade?.toLowerCase().trim() === "websocket" &&
  (request.url ?? "").split("?", 1)[0] === webSocketPath;

/** What is wrong with the handshake of an offer; RFC 6455 §4.2.2, §4.4. */
export function handshakeProblem({ headers }: IncomingMessage): HttpProblem | undefined {
  const close = { Connection: "close" };
  if (!key.test(headers["sec-websocket-key"] ?? "")) return new HttpProblem(400, "Missing or invalid Sec-WebSocket-Key header", close);
  if (headers["sec-websocket-version"] !== "13") {
    return new HttpProblem(426, "Missing or invalid Sec-WebSocket-Version header", {
      "Sec-WebSocket-Version": "13",
      Upgrade: "websocket",
      Connection: "Upgrade, close",
    });
  }
  const offered = headers["sec-websocket-protocol"];
  if (offered !== undefined && !isProtocolList(offered)) return new HttpProblem(400, "Invalid Sec-WebSocket-Protocol header", close);
  return undefined;
}

function isProtocolList(text: string): boolean {
  if (!protocolList.test(text)) return false;
  const names = text.split(",").map((name) => name.trim());
  return new Set(names).size === names.length;
}
