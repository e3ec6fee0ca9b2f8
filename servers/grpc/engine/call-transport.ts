import type { Metadata } from "@grpc/grpc-js";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import type { GrpcCodec, GrpcProtocol } from "../../../contract/traffic/grpc.ts";
import type { GrpcConnection } from "./connections.ts";
import type { MessageCoding } from "./message-coding.ts";
import type { StatusError } from "./status.ts";

/** What a call ends with. */
export interface CallEnd {
  readonly code: number;
  readonly message: string;
  readonly trailers: Metadata | undefined;
}

/** What was sent to the client at the end of a call. `status` is undefined if there was none. */
export interface SentEnd {
  readonly headers: readonly (readonly [name: string, value: string])[] | undefined;
  readonly trailers: readonly (readonly [name: string, value: string])[] | undefined;
  readonly status: { readonly code: number; readonly message: string } | undefined;
  /** Why there is no status: "client cancelled". */
  readonly aborted: string | undefined;
  /** Of an HTTP request that was answered without becoming a call. */
  readonly httpStatus?: number;
}

/** What is known of a call when its headers have arrived. */
export interface CallHead {
  readonly protocol: GrpcProtocol;
  readonly httpVersion: "1.0" | "1.1" | "2";
  readonly httpMethod: string;
  /** Of the messages in both directions. */
  readonly codec: GrpcCodec;
  /** Without a query. */
  readonly path: string;
  readonly authority: string;
  /** As received: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly metadata: Metadata;
  /** `grpc-timeout`, or the field of another protocol with the same meaning. */
  readonly timeoutMs: number | undefined;
  /** An error in the head, which ends the call. */
  readonly fault: StatusError | undefined;
  /** The message codings that the client accepts, in its order. */
  readonly acceptEncoding: string;
  readonly requestEncoding: string;
  /** Number of calls on the connection so far, this one included. */
  readonly connectionCalls: number;
  readonly connection: GrpcConnection;
}

/** What a row has of the head of a call, or of a connection that ended before its first one. */
export interface RecordedHead
  extends Pick<
    CallHead,
    | "protocol"
    | "httpVersion"
    | "httpMethod"
    | "codec"
    | "path"
    | "authority"
    | "rawHeaders"
    | "timeoutMs"
    | "requestEncoding"
    | "connectionCalls"
  > {
  readonly connection: Pick<GrpcConnection, "clientCertificate" | keyof ConnectionHead>;
}

/** A decompressed message, in the codec of the call. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array;
  readonly wireBytes: number;
  readonly compressed: boolean;
}

/** What a transport reports to its call. None of the methods throws. */
export interface CallEvents {
  onMessage(message: ReceivedMessage): void;
  onHalfClose(): void;
  /** The client sent something that is not a message: ends the call with this error. */
  fail(error: unknown): void;
  /** The call is over: its status was sent, or the client has left. Nothing follows. */
  onOver(end: SentEnd): void;
}

/** One call on the wire, of any protocol. */
export interface CallTransport {
  readonly head: CallHead;
  /** Memory of messages of the client that are incomplete, being decompressed, or wait for the end of the request. */
  readonly receivedBytes: number;
  /** The one message of the answer leaves when the call ends: nothing may wait until the client has read it. */
  readonly answersAtEnd: boolean;
  /** Asks for the next message or the half-close. */
  read(): void;
  /** `coding` is used for the compressed messages. */
  sendHeaders(headers: Metadata | undefined, coding: MessageCoding): void;
  /** Undefined before they are sent. */
  sentHeaders(): SentEnd["headers"];
  /** `frame` is a prefix and a message, which may be compressed. Calls `onWritten` when the operating system has it. */
  sendFrame(frame: Buffer, onWritten: () => void): void;
  end(end: CallEnd): void;
  /** Ends the call at once and drops what waits to be sent. The client gets the status if the protocol still allows that. */
  reset(status?: { readonly code: number; readonly message: string }): void;
  /** Called from time to time: of two calls of it within a call's end the second one abandons it, since its client leaves the last bytes unread. */
  abandonUnread(): void;
}
