/**
 * What of grpc-js has no public name. The version is fixed in package.json to its patch releases; the tests of
 * unknown methods, codings and header fields show that all of it is there.
 * - A server answers calls of unknown methods by itself, and takes methods one by one: its table is replaced.
 * - It has no compression of answers, and does not say what a message was on the wire: one call's coder is replaced.
 * - It makes its HTTP/2 server itself: the streams and sessions of that are needed for header fields as they came.
 */
import type { Http2Server } from "node:http2";
import type { Server, ServerInterceptingCallInterface } from "@grpc/grpc-js";

/** An entry of the table of methods. */
export interface ServedPath {
  readonly path: string;
  readonly type: "bidi";
  readonly func: () => void;
  readonly serialize: (frame: Buffer) => Buffer;
  readonly deserialize: (message: unknown) => unknown;
}

export function replaceMethods(server: Server, find: (path: string) => ServedPath): void {
  (server as unknown as { handlers: { get(path: string): ServedPath } }).handlers = { get: find };
}

/** The HTTP/2 servers that it made so far. */
export const http2ServersOf = (server: Server): readonly Http2Server[] => [
  ...(server as unknown as { http2Servers: Map<Http2Server, unknown> }).http2Servers.keys(),
];

interface CallCoder {
  /** `message` is one message behind its prefix. What it resolves with is given to `onReceiveMessage`; it rejects with a status. */
  readonly decode: (message: Buffer, coding: string) => unknown;
  /** The bytes for the wire. */
  readonly encode: (frame: Buffer) => Buffer;
}

export function replaceCoder(call: ServerInterceptingCallInterface, { decode, encode }: CallCoder): void {
  const internal = call as unknown as { decompressMessage: CallCoder["decode"]; serializeMessage: CallCoder["encode"] };
  internal.decompressMessage = decode;
  internal.serializeMessage = encode;
}
