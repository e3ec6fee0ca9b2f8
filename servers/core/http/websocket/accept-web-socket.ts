import { createHash } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { lingeringClose } from "../../net/client-socket.ts";
import { usesTurns } from "../../net/open-sockets.ts";
import { ServerWebSocket, type ServerWebSocketOptions } from "./server-web-socket.ts";
import { handshakeFault, offeredProtocols } from "./websocket-handshake.ts";

export interface AcceptOptions extends ServerWebSocketOptions {
  /** Which of the offered subprotocols is chosen; the first one by default. */
  readonly choose?: (offered: readonly string[]) => string | undefined;
  /** Of the answer: further lines, such as "X-Content-Type-Options: nosniff". */
  readonly fields?: readonly string[];
  /** Told of the head of the answer before it is sent. */
  readonly onAnswer?: (head: string) => void;
}

/** RFC 6455 §1.3 */
const handshakeGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * Answers the handshake of RFC 6455 §4.2.2. Listeners are to be added at once. Returns undefined where the request is refused, or the client has left. Extensions are not
 * negotiated.
 */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  options: AcceptOptions,
): ServerWebSocket | undefined {
  const fault = handshakeFault(request);
  if (fault) {
    const lines = Object.entries({ ...fault.headers, "Content-Type": "text/plain; charset=utf-8" }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    lingeringClose(
      socket,
      [`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`, "Connection: close", ...lines, "", `${fault.message}\n`].join("\r\n"),
    );
    return undefined;
  }
  if (!socket.readable || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const { choose = ([first]) => first } = options;
  const protocol = choose(offeredProtocols(request));
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${handshakeGuid}`).digest("base64");
  const answer = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ...(options.fields ?? []),
  ].join("\r\n");
  options.onAnswer?.(answer);
  socket.write(`${answer}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  usesTurns(socket, options.work);
  return new ServerWebSocket(socket, options);
}
