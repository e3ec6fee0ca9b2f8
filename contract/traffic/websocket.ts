/** WebSocket (RFC 6455): the connection is a row with its messages as parts, and each message a row of its own as well. */

import type { HttpBody, HttpExchangeFacts } from "./http.ts";
import type { PartHead, PartsSummary } from "./parts.ts";

/** The handshake and the connection after it. The bodies count the bytes of all messages. */
export interface WebSocketConnection extends HttpExchangeFacts {
  readonly kind: "websocket";
  readonly parts: PartsSummary;
  /** Absent while it is open. RFC 6455 §7.4.1: 1006 where no close frame came. */
  readonly closed?: { readonly code: number; readonly reason: string };
}

interface MessageFacts {
  /** As seen by the service. */
  readonly direction: "received" | "sent";
  readonly type: "text" | "binary";
  readonly body: HttpBody;
}

export interface WebSocketMessagePart extends PartHead, MessageFacts {
  readonly kind: "websocket-message";
  /** `TrafficRow.id` of its own row; an echo has that of the message. */
  readonly row?: number;
  /** Index of the received message that was sent back; `body` has no bytes of its own. */
  readonly echoOf?: number;
}

/** The detail of a message's own row. Its bytes are kept once, as a part of the connection, and are evicted with it. */
export interface WebSocketMessage extends MessageFacts {
  readonly kind: "websocket-message";
  readonly id: number;
  /** `TrafficRow.id` of the connection. */
  readonly parent: number;
  readonly at: number;
  /** Its index among the connection's parts. */
  readonly index: number;
  /** "echoed", "not sent". */
  readonly outcome: string;
  readonly tookMs?: number;
}
