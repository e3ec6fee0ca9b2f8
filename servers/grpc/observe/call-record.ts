import type { GrpcCall, GrpcCodec } from "../../../contract/traffic/grpc.ts";

/** The method of a call, as it is recorded. */
export interface RecordedMethod extends NonNullable<GrpcCall["method"]> {
  /** "/example.Greeter/SayHello" */
  readonly path: string;
}

/** Tags of the pieces of a call's detail. Pieces are written in the order in which they become known. */
export const callTag = {
  /** Protocol, codec, method, authority, header fields, codings, connection. */
  head: 1,
  responseHeaders: 2,
  trailers: 3,
  status: 4,
  aborted: 5,
  /** Milliseconds to the client's half-close. */
  halfClose: 6,
  total: 7,
  /** Messages received and sent. */
  counts: 8,
  /** Milliseconds to the answer's headers, and the coding of its messages. */
  answered: 9,
  /** Of a request that did not become a call: the status of HTTP. */
  httpStatus: 10,
  /** Key and name of a reply rule. */
  rule: 11,
  /** What else is to be known of the answer. */
  note: 12,
} as const;

/** Flags of a message. The content of a compressed one begins with its length on the wire, in four bytes. */
const sentFlag = 1;
const compressedFlag = 2;
const jsonFlag = 4;
/** It was not kept whole because the budget was used up. */
export const overBudgetFlag = 8;
export const isOverBudget = (flags: number): boolean => (flags & overBudgetFlag) !== 0;
export const messageFlags = (sent: boolean, compressed: boolean, codec: GrpcCodec): number =>
  (sent ? sentFlag : 0) | (compressed ? compressedFlag : 0) | (codec === "json" ? jsonFlag : 0);
export const isSent = (flags: number): boolean => (flags & sentFlag) !== 0;
export const isCompressed = (flags: number): boolean => (flags & compressedFlag) !== 0;
export const codecOf = (flags: number): GrpcCodec => ((flags & jsonFlag) !== 0 ? "json" : "proto");
