import type { Http2Server, Http2Session, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import net, { type Socket } from "node:net";
import tls from "node:tls";
import { Server, ServerCredentials, ServerInterceptingCall, type ServerInterceptingCallInterface } from "@grpc/grpc-js";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import type { Log } from "../../core/service/log.ts";
import type { CallRecorder } from "../observe/call-recorder.ts";
import { type GrpcConnection, GrpcConnections } from "./connections.ts";
import { GrpcCall, type GrpcCallOptions } from "./grpc-call.ts";
import { http2ServersOf, replaceMethods, type ServedPath } from "./grpc-js-access.ts";
import { GrpcJsCall, type OpenedStream } from "./grpc-js-call.ts";
import type { GrpcMethods } from "./grpc-method.ts";
import type { OpenCalls } from "./open-calls.ts";
import { StatusError, statusCode } from "./status.ts";

export interface GrpcServerOptions extends Pick<GrpcCallOptions, "limits" | "coding" | "behaviour"> {
  readonly port: number;
  readonly openToLan: boolean;
  readonly largestMessage: number;
  readonly concurrentStreams: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** For calls in flight when the service stops. */
  readonly graceMs: number;
  readonly tls: { readonly certificates: TlsSource; readonly requireClientCertificate: boolean } | undefined;
  readonly methods: GrpcMethods;
  readonly recorder: CallRecorder;
  readonly openCalls: OpenCalls;
  readonly log: Log;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

export interface GrpcServer {
  readonly port: number;
  readonly connections: GrpcConnections;
  /** Ends what is open: new calls are refused, calls in flight have the grace time, and then end with UNAVAILABLE. */
  drain(): Promise<void>;
}

/** A client that has not finished its TLS handshake by then is let go. */
const handshakeTimeoutMs = 10_000;
/** For the last statuses to leave. */
const flushMs = 250;

/** Serves calls on one port: listener → connection → HTTP/2 (Node's, by grpc-js) → `GrpcCall` → the method's handler. */
export async function listenGrpc(options: GrpcServerOptions): Promise<GrpcServer> {
  const { log, methods, recorder, openCalls, onStop } = options;
  const connections = new GrpcConnections();
  const calls = new Set<GrpcCall>();
  let draining = false;
  let onIdle: (() => void) | undefined;
  /** Node announces a stream, and grpc-js makes its call in the same turn. */
  let opened: OpenedStream | undefined;
  const ofSessions = new WeakMap<Http2Session, GrpcConnection>();

  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_concurrent_streams": options.concurrentStreams,
    "grpc.max_receive_message_length": options.largestMessage,
    // Answers are our own.
    "grpc.max_send_message_length": -1,
    ...(options.keepaliveMs > 0 && {
      "grpc.keepalive_time_ms": options.keepaliveMs,
      "grpc.keepalive_timeout_ms": options.keepaliveTimeoutMs,
    }),
    interceptors: [(_method, call) => beginCall(call as ServerInterceptingCallInterface)],
  });
  replaceMethods(server, (path) => ({ ...servedPath, path }));
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const http2Servers = http2ServersOf(server);
  for (const http2Server of http2Servers) watch(http2Server);

  function watch(http2Server: Http2Server): void {
    http2Server.prependListener("stream", (stream, headers, _flags, rawHeaders?: readonly string[]) => {
      // The deadline is the call's own: grpc-js reads one of more than 24 days as one that is over.
      const timeout = headers["grpc-timeout"] as string | undefined;
      delete headers["grpc-timeout"];
      opened = { stream: stream as ServerHttp2Stream, headers, rawHeaders: rawHeaders ?? [], timeout };
    });
    http2Server.on("sessionError", (error: Error, session: ServerHttp2Session) => {
      log.warning(`A connection from ${remoteOf(session)} was closed: ${error.message}`);
    });
  }

  function beginCall(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    try {
      const stream = opened;
      const connection = stream?.stream.session && ofSessions.get(stream.stream.session);
      if (stream && connection) {
        const transport = new GrpcJsCall(call, stream, connection, options.largestMessage);
        const entry = recorder.begin(transport.head, methods.find(transport.head.path));
        const ours = new GrpcCall({ ...options, transport, entry, onFault, onOver });
        calls.add(ours);
        openCalls.add(ours);
        transport.start(ours);
        ours.begin();
      }
    } catch (error) {
      refuse(call, error);
    } finally {
      opened = undefined;
    }
    // grpc-js runs its own handlers with what is returned: they get nothing.
    return new SilentCall(call);
  }

  function refuse(call: ServerInterceptingCallInterface, error: unknown): void {
    const status = error instanceof StatusError ? error : undefined;
    if (!status) log.error(`A call could not begin: ${error instanceof Error ? error.stack : String(error)}`);
    call.sendStatus({ code: status?.code ?? statusCode("INTERNAL"), details: status?.message ?? "the call could not begin" });
  }

  function onFault({ head, entry }: GrpcCall, error: unknown): void {
    log.error(`${head.path} (row ${entry.id}) failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  function onOver(call: GrpcCall, end: Parameters<GrpcCallOptions["onOver"]>[1]): void {
    calls.delete(call);
    openCalls.delete(call);
    recorder.end(call.entry, end);
    if (calls.size === 0) onIdle?.();
  }

  function take(socket: Socket): void {
    // HTTP/2 has its own listener; one must be there before it and after it.
    socket.on("error", () => {});
    if (draining) {
      socket.destroy();
      return;
    }
    const connection = connections.add(socket);
    socket.setNoDelay(true);
    for (const http2Server of http2Servers) http2Server.once("session", (session) => ofSessions.set(session, connection));
    // Its session begins within this call.
    injector.injectConnection(socket);
  }

  const { port: wanted, openToLan } = options;
  const port = options.tls
    ? await listenTls({
        port: wanted,
        openToLan,
        onStop,
        certificates: options.tls.certificates,
        createServer: createTlsServer(options.tls),
      })
    : await listenTcp({ port: wanted, openToLan, onStop, createServer: () => net.createServer(take) });
  onStop(drain);

  function createTlsServer({ requireClientCertificate }: NonNullable<GrpcServerOptions["tls"]>) {
    return (material: tls.TlsOptions) => {
      const tlsServer = tls.createServer({
        ...material,
        // gRPC over TLS is HTTP/2 only.
        ALPNProtocols: ["h2"],
        handshakeTimeout: handshakeTimeoutMs,
        requestCert: true,
        rejectUnauthorized: requireClientCertificate,
      });
      tlsServer.on("secureConnection", take);
      tlsServer.on("tlsClientError", (error, socket) => {
        socket.on("error", () => {});
        log.warning(`A TLS handshake from ${socket.remoteAddress}:${socket.remotePort} failed: ${error.message}`);
      });
      return tlsServer;
    };
  }

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    // GOAWAY: open streams go on, and the client opens no more here.
    injector.drain(options.graceMs + 2 * flushMs);
    await idle(options.graceMs);
    if (calls.size > 0) log.info(`${calls.size} calls were open when the service stopped, and end with UNAVAILABLE.`);
    for (const call of calls) call.finish(statusCode("UNAVAILABLE"), "the service is stopping");
    // A session closes when its streams have, and their last bytes have left.
    await connections.whenNone(flushMs);
    server.forceShutdown();
    connections.destroyAll();
  }

  function idle(withinMs: number): Promise<void> {
    if (calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return { port, connections, drain };
}

/** Every path is served: what is not known is answered, and recorded, like the rest. */
const servedPath: Omit<ServedPath, "path"> = { type: "bidi", func() {}, serialize: (frame) => frame, deserialize: (message) => message };

/** In place of the call that grpc-js would run: the handlers of grpc-js never hear of it. */
class SilentCall extends ServerInterceptingCall {
  override start(): void {}
  override sendMetadata(): void {}
  override sendMessage(): void {}
  override sendStatus(): void {}
  override startRead(): void {}
}

const remoteOf = ({ socket }: ServerHttp2Session): string => {
  try {
    return `${socket.remoteAddress}:${socket.remotePort}`;
  } catch {
    return "a client that has left";
  }
};
