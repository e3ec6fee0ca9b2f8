/** A row's detail, and the parts of a long exchange. */
import type { GrpcCall, GrpcMessagePart } from "./grpc.ts";
import type { HttpExchange, SseEventPart } from "./http.ts";
import type { MqttEvent, MqttMessage } from "./mqtt.ts";
import type { WebSocketConnection, WebSocketMessage, WebSocketMessagePart } from "./websocket.ts";

/** What was recorded of a row, beyond the row. A page chooses the inspector by `kind`, for every service alike. */
export type Detail = HttpExchange | WebSocketConnection | WebSocketMessage | MqttMessage | MqttEvent | GrpcCall;
export type DetailKind = Detail["kind"];
/** The details by their kind. */
export type Details = { readonly [Kind in DetailKind]: Extract<Detail, { kind: Kind }> };

/** One part of a long exchange, such as an event or a message, in order of arrival; the answer of `traffic.parts`. */
export type DetailPart = SseEventPart | WebSocketMessagePart | GrpcMessagePart;

/** Fields of every part. Parts never change: new ones are appended. */
export interface PartHead {
  /** Counts from 0 within its row; a missing number is a part that was dropped. */
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Counts of a row's parts. The newest are kept: the oldest are evicted, and those that came too fast are dropped. */
export interface PartsSummary {
  /** All parts, kept or not. */
  readonly total: number;
  /** Bytes of content of all parts. */
  readonly bytes: number;
  /** How many of `total` are not kept. */
  readonly leftOut: number;
  /** How many of `bytes` are not kept. */
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
