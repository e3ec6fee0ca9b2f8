/** What is known of one row beyond the row: its detail, and the parts of a long exchange. */
import type { HttpExchange } from "./http.ts";
import type { MqttEvent, MqttMessage } from "./mqtt.ts";
import type { SseEventPart } from "./sse.ts";
import type { WebSocketConnection, WebSocketMessage, WebSocketMessagePart } from "./websocket.ts";

/** The answer of `traffic.detail`. A page chooses its inspector by `kind`, whichever service the row is of. */
export type Detail = HttpExchange | WebSocketConnection | WebSocketMessage | MqttMessage | MqttEvent;
export type DetailKind = Detail["kind"];

/** One of what a long exchange is made of, in the order in which they came; the answer of `traffic.parts`. */
export type DetailPart = SseEventPart | WebSocketMessagePart;
export type DetailPartKind = DetailPart["kind"];

/** What every part has. Parts never change: new ones are appended. */
export interface PartHead {
  /** Counts from 0 within its row; a number that is missing was left out. */
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** How much there is of a row's parts. The newest are kept: what is left out are the oldest, and those that came too fast. */
export interface PartsSummary {
  /** All there were, kept or not. */
  readonly total: number;
  /** Of content, of all there were. */
  readonly bytes: number;
  /** Of `total`. */
  readonly leftOut: number;
  /** Of `bytes`. */
  readonly leftOutBytes: number;
}

export interface DetailPartPage {
  /** In order. */
  readonly parts: readonly DetailPart[];
  /** Where the next page begins. */
  readonly next: number;
  readonly total: number;
  readonly leftOut: number;
}
