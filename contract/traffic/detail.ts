/** A row's detail, and the parts of a long exchange. */
import type { GrpcCall, GrpcMessagePart } from "./grpc.ts";
import type { HttpExchange, SseEventPart } from "./http.ts";
import type { MqttEvent, MqttMessage } from "./mqtt.ts";
import type { RtspMessagePart, RtspSession } from "./rtsp.ts";
import type { TurnAllocation, TurnRequest, WebrtcPeer, WebrtcSignal } from "./webrtc.ts";
import type { WebrtcMedia } from "./webrtc-media.ts";
import type { WebSocketConnection, WebSocketMessage, WebSocketMessagePart } from "./websocket.ts";

/** What was recorded of a row, beyond the row. A page chooses the inspector by `kind`, for every service alike. */
export type Detail =
  | HttpExchange
  | WebSocketConnection
  | WebSocketMessage
  | MqttMessage
  | MqttEvent
  | GrpcCall
  | RtspSession
  | WebrtcPeer
  | WebrtcSignal
  | WebrtcMedia
  | TurnRequest
  | TurnAllocation;
export type DetailKind = Detail["kind"];
/** The details by their kind. */
export type Details = { readonly [Kind in DetailKind]: Extract<Detail, { kind: Kind }> };

/** One part of a long exchange, such as an event or a message, in order of arrival; the answer of `traffic.parts`. */
export type DetailPart = SseEventPart | WebSocketMessagePart | GrpcMessagePart | RtspMessagePart;

export interface DetailPartPage {
  /** In order. */
  readonly parts: readonly DetailPart[];
  /** Where the next page begins. */
  readonly next: number;
  readonly total: number;
  readonly leftOut: number;
}
