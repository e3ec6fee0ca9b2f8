import net, { type Socket } from "node:net";
import tls from "node:tls";
import { notHttp2 } from "../../core/http2/http2-connection.ts";
import type { Http2Stream } from "../../core/http2/http2-stream.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import { type ConnectionsOptions, type GrpcConnection, GrpcConnections } from "./connections.ts";
import { Http2Call, type Http2CallLimits } from "./http2-call.ts";
import { refuseStream } from "./http2-refusal.ts";
import { faultsWithRows, flushMs, type GrpcListener, ListenerCalls, type ListenerCallsOptions } from "./listener-calls.ts";
import type { Refusal } from "./refusal.ts";

export interface GrpcServerOptions extends ListenerCallsOptions, ConnectionsOptions {
  readonly port: number;
  /** Of gRPC-Web and Connect. */
  readonly webPort: () => number;
  readonly openToLan: boolean;
  readonly largestMessage: number;
  /** For calls in flight when the service stops. */
  readonly graceMs: number;
  readonly tls:
    | { readonly certificates: TlsSource; readonly tlsHandshakes: number; readonly requireClientCertificate: boolean }
    | undefined;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** Serves calls on one port: listener → connection → HTTP/2 → `GrpcCall` → the method's handler. */
export async function listenGrpc(options: GrpcServerOptions): Promise<GrpcListener> {
  const { onStop, recorder } = options;
  const faults = faultsWithRows(options);
  onStop(() => faults.flush());
  const connections = new GrpcConnections(options, faults, (connection, why) => recorder.refused(connection, "connection", why));
  const calls = new ListenerCalls(options);
  const callLimits: Http2CallLimits = {
    largestMessage: options.largestMessage,
    metadataBytes: options.metadataBytes,
  };
  let draining = false;

  function take(stream: Http2Stream, head: RequestHead, connection: GrpcConnection): void {
    const refusal = refusalOf(head, options.webPort());
    if (refusal) refuseStream(stream, head, connection, options.recorder, refusal);
    else calls.begin(new Http2Call(stream, head, connection, callLimits));
  }

  const otherPort = () =>
    `${notHttp2} without TLS. If the client speaks TLS: it is off here, and GRPC_TLS switches it on. HTTP/1.1, gRPC-Web and Connect are spoken on port ${options.webPort()}`;

  function takeSocket(socket: Socket): void {
    const connection = connections.admit(socket);
    if (!connection) return;
    const explain = (why: string) => (why === notHttp2 && !options.tls ? otherPort() : why);
    connections.speaksHttp2(socket, connection, (stream, head) => take(stream, head, connection), explain);
  }

  const { port: wanted, openToLan } = options;
  const port = options.tls
    ? await listenTls({
        port: wanted,
        openToLan,
        onStop,
        places: connections,
        turns: options.turns,
        ...options.tls,
        faults,
        handshakeMs: options.handshakeMs,
        createServer: createTlsServer(options.tls),
      })
    : await listenTcp({ port: wanted, openToLan, onStop, places: connections, createServer: () => net.createServer(takeSocket) });
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
    void connections.leave();
    await calls.drain(options.graceMs);
    // A connection closes when its streams have, and their last bytes have left.
    await connections.whenNone(flushMs);
    connections.destroyAll();
  }

  return { port, connections, drain };
}

const isGrpc = /^application\/grpc(?:$|[+;])/i;

function refusalOf(head: RequestHead, webPort: number): Refusal | undefined {
  if (head.field(":method") !== "POST") return { httpStatus: 405, why: "A call is a POST", fields: { allow: "POST" } };
  if (isGrpc.test(head.field("content-type") ?? "")) return undefined;
  return { httpStatus: 415, why: `This port speaks gRPC; gRPC-Web and Connect are spoken on port ${webPort}` };
}
