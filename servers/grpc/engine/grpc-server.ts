import type { IncomingHttpHeaders, ServerHttp2Session } from "node:http2";
import net, { type Socket } from "node:net";
import tls from "node:tls";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { FaultLog } from "../../core/net/fault-log.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import { type ConnectionsOptions, type GrpcConnection, GrpcConnections } from "./connections.ts";
import { http2ServersOf, setHttp2Options, takeStreams } from "./grpc-js-access.ts";
import { Http2Call, type Http2CallLimits, type OpenedStream } from "./http2-call.ts";
import { recordLostStream, refuseStream } from "./http2-refusal.ts";
import { flushMs, type GrpcListener, ListenerCalls, type ListenerCallsOptions } from "./listener-calls.ts";
import type { Refusal } from "./refusal.ts";
import { type GuardOptions, guardSession, http2Options, notHttp2, RefusedStreams } from "./session-guard.ts";
import type { SessionReading } from "./session-reading.ts";

export interface GrpcServerOptions extends ListenerCallsOptions, GuardOptions, ConnectionsOptions {
  readonly port: number;
  /** Of gRPC-Web and Connect. */
  readonly webPort: () => number;
  readonly openToLan: boolean;
  readonly largestMessage: number;
  readonly concurrentStreams: number;
  /** Of the header fields of a call. */
  readonly metadataBytes: number;
  /** For calls in flight when the service stops. */
  readonly graceMs: number;
  readonly tls: { readonly certificates: TlsSource; readonly requireClientCertificate: boolean } | undefined;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** Serves calls on one port: listener → connection → HTTP/2 (Node's, by grpc-js) → `GrpcCall` → the method's handler. */
export async function listenGrpc(options: GrpcServerOptions): Promise<GrpcListener> {
  const { log, onStop } = options;
  const faults = new FaultLog(log);
  onStop(() => faults.flush());
  const connections = new GrpcConnections(options, faults);
  const calls = new ListenerCalls(options);
  const callLimits: Http2CallLimits = {
    largestMessage: options.largestMessage,
    malformed: "INTERNAL",
    metadataBytes: options.metadataBytes,
  };
  let draining = false;
  const refused = new RefusedStreams(faults, options);

  const server = new Server({ "grpc.enable_channelz": 0 });
  setHttp2Options(server, http2Options(options));
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const http2Servers = http2ServersOf(server);

  function take(connection: GrpcConnection, reading: SessionReading, opened: OpenedStream): void {
    const { stream, rawHeaders } = opened;
    // What went wrong is in its code when it closes.
    stream.on("error", ignored);
    if (refused.refuse(stream, rawHeaders, connection) || stream.destroyed) return;
    const begin = () => beginCall(connection, opened);
    reading.take(stream, begin, (why) => recordLostStream(opened, connection, options, why));
  }

  function beginCall(connection: GrpcConnection, opened: OpenedStream): void {
    const { headers } = opened;
    const refusal = refusalOf(headers, options.webPort());
    if (refusal) refuseStream(opened, connection, options.recorder, refusal);
    else calls.begin(new Http2Call(opened, connection, callLimits));
  }

  const otherPort = () =>
    `${notHttp2} without TLS. If the client speaks TLS: it is off here, and GRPC_TLS switches it on. HTTP/1.1, gRPC-Web and Connect are spoken on port ${options.webPort()}`;

  function takeSocket(socket: Socket): void {
    const connection = connections.admit(socket);
    if (!connection) return;
    const reading = connections.speaksHttp2(socket, connection);
    for (const http2Server of http2Servers) {
      http2Server.once("session", (session: ServerHttp2Session) => {
        refused.watch(session, socket, connection);
        takeStreams(session, (stream, headers, _flags, rawHeaders) => take(connection, reading, { stream, headers, rawHeaders }));
        guardSession(session, reading, options, (why) => faults.closed(connection, why === notHttp2 && !options.tls ? otherPort() : why));
      });
    }
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
        faults,
        handshakeMs: options.handshakeMs,
        createServer: createTlsServer(options.tls),
      })
    : await listenTcp({ port: wanted, openToLan, onStop, createServer: () => net.createServer(takeSocket) });
  onStop(drain);

  function createTlsServer({ requireClientCertificate }: NonNullable<GrpcServerOptions["tls"]>) {
    return (material: tls.TlsOptions) => {
      const tlsServer = tls.createServer({
        ...material,
        // gRPC over TLS is HTTP/2 only.
        ALPNProtocols: ["h2"],
        requestCert: true,
        rejectUnauthorized: requireClientCertificate,
      });
      tlsServer.on("secureConnection", takeSocket);
      return tlsServer;
    };
  }

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    connections.admitNoMore();
    // GOAWAY: open streams go on, and the client opens no more here.
    injector.drain(options.graceMs + 2 * flushMs);
    await calls.drain(options.graceMs);
    // A session closes when its streams have, and their last bytes have left.
    await connections.whenNone(flushMs);
    server.forceShutdown();
    connections.destroyAll();
  }

  return { port, connections, drain };
}

const ignored = (): void => {};

const isGrpc = /^application\/grpc(?:$|[+;])/i;

function refusalOf(headers: IncomingHttpHeaders, webPort: number): Refusal | undefined {
  if (headers[":method"] !== "POST") return { httpStatus: 405, why: "A call is a POST", fields: { allow: "POST" } };
  if (isGrpc.test(headers["content-type"] ?? "")) return undefined;
  return { httpStatus: 415, why: `This port speaks gRPC; gRPC-Web and Connect are spoken on port ${webPort}` };
}
