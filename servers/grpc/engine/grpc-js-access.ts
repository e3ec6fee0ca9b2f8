/**
 * The parts of grpc-js that are used and are not public. package.json allows patch releases only, and the tests of limits and
 * unknown methods fail if a part is missing.
 * grpc-js creates its HTTP/2 server itself: the connections, keepalive and GOAWAY are used as they are. The calls are not: they take a
 * promise and a pause of the stream for each message, answer unknown methods by themselves, cannot compress answers and do not say what
 * was on the wire. So the stream listener is replaced.
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
