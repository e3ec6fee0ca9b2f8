/** One gRPC call, as the server saw it: the call is a row, its messages are its parts. */

import type { ConnectionHead } from "./connection.ts";
import type { HeaderList } from "./http.ts";
import type { PartHead, PartsSummary } from "./parts.ts";

/** By the number of messages in each direction. */
export const grpcPatterns = ["unary", "server stream", "client stream", "bidi stream"] as const;
export type GrpcPattern = (typeof grpcPatterns)[number];

/** The wire protocol of a call. */
export const grpcProtocols = ["grpc", "grpc-web", "connect"] as const;
export type GrpcProtocol = (typeof grpcProtocols)[number];

/** How messages are serialized. */
export const grpcCodecs = ["proto", "json"] as const;
export type GrpcCodec = (typeof grpcCodecs)[number];

export interface GrpcStatus {
  readonly code: number;
  /** "NOT_FOUND" */
  readonly name: string;
  readonly message: string;
}

/** Names of the status codes, by code. */
export const grpcStatusNames = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;
export type GrpcStatusName = (typeof grpcStatusNames)[number];

/** Times are milliseconds since the call began. */
export interface GrpcCall {
  readonly kind: "grpc-call";
  readonly id: number;
  readonly at: number;
  readonly protocol: GrpcProtocol;
  /** "1.1", "2" */
  readonly httpVersion: string;
  readonly httpMethod: string;
  readonly codec: GrpcCodec;
  /** "/example.Greeter/SayHello" */
  readonly path: string;
  /** Absent for a method that is not served. */
  readonly method?: {
    readonly pattern: GrpcPattern;
    /** Full names of the message types. */
    readonly requestType: string;
    readonly responseType: string;
    /** Of the protocol files that were served then. */
    readonly revision: string;
  };
  readonly authority: string;
  /** As they crossed the wire, with the pseudo-header fields of HTTP/2. Values of "-bin" fields are base64. */
  readonly requestHeaders: HeaderList;
  /** Absent until they are sent, and in an answer that has trailers only. */
  readonly responseHeaders?: HeaderList;
  readonly trailers?: HeaderList;
  /** The status that was sent, also if the client did not wait for it. Absent while the call is open. */
  readonly status?: GrpcStatus;
  /** Why the call ended without a status from the service: "client cancelled". */
  readonly aborted?: string;
  /** Of an HTTP request that was answered without becoming a call; `aborted` says why. */
  readonly httpStatus?: number;
  /** From `grpc-timeout` or its equivalent. */
  readonly deadlineMs?: number;
  /** The reply rules that had a part in it, each once, in the order in which they did; absent without one. */
  readonly rules?: readonly { readonly key: string; readonly name: string }[];
  /** What its status does not tell: "Sample made from the types". Absent without any. */
  readonly notes?: readonly string[];
  /** "identity", "gzip", "deflate" */
  readonly requestEncoding: string;
  readonly responseEncoding: string;
  readonly received: number;
  readonly sent: number;
  readonly timing: {
    readonly headersMs?: number;
    readonly halfCloseMs?: number;
    readonly totalMs?: number;
  };
  /** With the cipher behind the version of TLS. */
  readonly connection: ConnectionHead & {
    /** Number of calls on this connection so far, this one included. */
    readonly calls: number;
    /** Subject of the client's certificate, if there was one and it was verified. */
    readonly clientCertificate?: string;
  };
  readonly parts: PartsSummary;
}

export interface GrpcMessagePart extends PartHead {
  readonly kind: "grpc-message";
  /** As seen by the service. */
  readonly direction: "received" | "sent";
  /** Of the message, uncompressed. */
  readonly bytes: number;
  /** Of the message on the wire, without its prefix. */
  readonly wireBytes: number;
  readonly compressed: boolean;
  readonly codec: GrpcCodec;
  /** The serialized message in its codec; shorter than `bytes` if the recorder's limit cut it. */
  readonly base64: string;
  /** Set where it was cut because so much of other messages was kept at the time. */
  readonly overBudget?: boolean;
}
