/** Between the service and the worker that speaks RTMP. A publisher is known by its number. */
import type { Failure } from "../../../contract/service.ts";
import type { FromThreadSockets, ThreadSocketsBound, ToThreadSockets } from "../../core/net/thread-sockets.ts";

export interface RtmpListenOptions {
  readonly port: number;
  readonly openToLan: boolean;
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Of one message: a picture. */
  readonly messageBytes: number;
  /** Of messages that are not complete or not taken, of all clients. */
  readonly allMessageBytes: number;
  /** Until a client publishes, and between two messages of one that does. */
  readonly silenceMs: number;
}

/** What a client wants to publish. */
export interface RtmpPublish {
  /** "live/name" */
  readonly path: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** What the program calls itself: "FMLE/3.0 (compatible; Lavf61.7.100)". */
  readonly userAgent: string;
  readonly address: string;
  /** With port. */
  readonly remote: string;
  readonly local: string;
  readonly openedAt: number;
}

export type ToRtmpWorker =
  | { readonly type: "listen"; readonly options: RtmpListenOptions; readonly sockets: ThreadSocketsBound }
  | { readonly type: "socket"; readonly socket: ToThreadSockets }
  /** To be answered with a pong. */
  | { readonly type: "ping" }
  /** The client may publish. */
  | { readonly type: "accept"; readonly publisher: number }
  /** The client is told why, and disconnected. */
  | { readonly type: "refuse"; readonly publisher: number; readonly code: string; readonly reason: string }
  /** So much of what the messages of media cost was taken. */
  | { readonly type: "taken"; readonly publisher: number; readonly cost: number };

export type FromRtmpWorker =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "pong" }
  | { readonly type: "socket"; readonly socket: FromThreadSockets }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "publish"; readonly publisher: number; readonly publish: RtmpPublish }
  /** Data, audio or video: `messageType`. */
  | { readonly type: "media"; readonly publisher: number; readonly kind: number; readonly timestamp: number; readonly payload: Uint8Array }
  /** Also of one that was refused. */
  | { readonly type: "gone"; readonly publisher: number; readonly reason: string }
  /** Clients that were disconnected before they published. */
  | { readonly type: "dropped"; readonly remote: string; readonly reason: string };

/** What a message of media costs until it was taken: one of a byte takes far more than that. */
export const costOfMedia = ({ length }: Uint8Array): number => 2_048 + length;
