/**
 * The parts of grpc-js that are used and are not public. package.json allows patch releases only, and the tests of limits and
 * unknown methods fail if a part is missing.
 * grpc-js creates its HTTP/2 server itself: the connections, keepalive and GOAWAY are used as they are. The calls are not: they take a
 * promise and a pause of the stream for each message, answer unknown methods by themselves, cannot compress answers and do not say what
 * was on the wire. So it does not get the streams.
 */
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, ServerOptions } from "node:http2";
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

/** Gives the streams of a session to `listener` and to nobody else: the server that the session belongs to is not told of them. */
export function takeStreams(
  session: ServerHttp2Session,
  listener: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: readonly string[]) => void,
): void {
  session.removeAllListeners("stream");
  session.on("stream", listener as never);
}
