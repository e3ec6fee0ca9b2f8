/**
 * What of grpc-js has no public name. The version is fixed in package.json to its patch releases; the tests of limits and
 * unknown methods show that all of it is there.
 * grpc-js makes its HTTP/2 server itself: its connections, keepalive and GOAWAY are used as they are. Its calls are not: they cost a promise
 * and a pause of the stream for each message, answer unknown methods by themselves, have no compression of answers and do not say what
 * was on the wire. So its listener for streams is replaced.
 */
import type { Http2Server, ServerHttp2Stream, ServerOptions } from "node:http2";
import type { Server } from "@grpc/grpc-js";

interface Internals {
  readonly http2Servers: Map<Http2Server, unknown>;
  readonly commonServerOptions: ServerOptions;
}

/** Options of the HTTP/2 servers that it will make. */
export function setHttp2Options(server: Server, options: ServerOptions): void {
  Object.assign((server as unknown as Internals).commonServerOptions, options);
}

/** The HTTP/2 servers that it made so far. */
export const http2ServersOf = (server: Server): readonly Http2Server[] => [...(server as unknown as Internals).http2Servers.keys()];

export function replaceStreamListener(
  http2Server: Http2Server,
  listener: (
    stream: ServerHttp2Stream,
    headers: import("node:http2").IncomingHttpHeaders,
    flags: number,
    rawHeaders: readonly string[],
  ) => void,
): void {
  http2Server.removeAllListeners("stream");
  http2Server.on("stream", listener as never);
}
