import type { Metadata } from "@grpc/grpc-js";
import type { GrpcCodec, GrpcProtocol } from "../../../contract/traffic/grpc.ts";
import type { GrpcConnection } from "./connections.ts";
import type { MessageCoding } from "./message-coding.ts";
import type { StatusError } from "./status.ts";

/** What a call ends with. */
export interface CallEnd {
  readonly code: number;
  readonly message: string;
  readonly trailers: Metadata;
}

/** What the client got of the end of a call; undefined where there was no status. */
export interface SentEnd {
  readonly headers: readonly (readonly [name: string, value: string])[] | undefined;
  readonly trailers: readonly (readonly [name: string, value: string])[] | undefined;
  readonly status: { readonly code: number; readonly message: string } | undefined;
  /** Why there is no status: "client cancelled". */
  readonly aborted: string | undefined;
  /** Of a request over HTTP that was answered without becoming a call. */
  readonly httpStatus?: number;
}

/** Facts of a call when its headers have come. */
export interface CallHead {
  readonly protocol: GrpcProtocol;
  readonly httpVersion: "1.0" | "1.1" | "2";
  readonly httpMethod: string;
  /** Of the messages in both directions. */
  readonly codec: GrpcCodec;
  /** Without a query. */
  readonly path: string;
  readonly authority: string;
  /** As they crossed the wire: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly metadata: Metadata;
  /** `grpc-timeout`, or what the protocol has in its place. */
  readonly timeoutMs: number | undefined;
  /** What is wrong with the head: the call ends with it. */
  readonly fault: StatusError | undefined;
  /** Codings of messages in the order in which the client names them. */
  readonly acceptEncoding: string;
  readonly requestEncoding: string;
  /** Number of calls on the connection so far, this one included. */
  readonly connectionCalls: number;
  readonly connection: GrpcConnection;
}

/** A message as it came, in the codec of the call. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array;
  readonly wireBytes: number;
  readonly compressed: boolean;
}

/** What the wire tells a call. Nothing of it throws. */
export interface CallEvents {
  onMessage(message: ReceivedMessage): void;
  onHalfClose(): void;
  /** What came is no message: the call is to end with this. */
  fail(error: unknown): void;
  /** The call is over: its status was sent, or the client has left. Nothing follows. */
  onOver(end: SentEnd): void;
}

/** One call on the wire, of any protocol. */
export interface CallTransport {
  readonly head: CallHead;
  /** Asks for the next message or the half-close. */
  read(): void;
  /** `coding` is the one of messages that are compressed. */
  sendHeaders(headers: Metadata, coding: MessageCoding): void;
  /** `frame` is the message behind its prefix, and may be compressed. Calls back when it has left for the system. */
  sendFrame(frame: Buffer, onWritten: () => void): void;
  end(end: CallEnd): void;
  /** Ends the call at once: what waits to be sent is dropped. A status is told as far as that can be. */
  reset(status?: { readonly code: number; readonly message: string }): void;
}
