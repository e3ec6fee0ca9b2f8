import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse, STATUS_CODES } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket, TlsOptions, Server as TlsServer } from "node:tls";
import type { ClientError } from "../../core/http/connections/parsed-socket.ts";
import { Pipeline } from "../../core/http/connections/pipeline.ts";
import type { PipelineMemory } from "../../core/http/connections/pipeline-limits.ts";
import { pipelinedRequests } from "../../core/http/connections/pipelined-request.ts";
import { hasValidHost } from "../../core/http/http-server.ts";
import { malformedVerdict, startLine } from "../../core/http/messages/malformed-request.ts";
import { loggedTarget } from "../../core/http/record/http-log-line.ts";
import { fieldOverhead } from "../../core/http2/header-field.ts";
import { lingeringClose } from "../../core/net/client-socket.ts";
import { readFirstBytes } from "../../core/net/first-bytes.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import type { CallHead } from "../engine/call-transport.ts";
import { type ConnectionsOptions, type GrpcConnection, GrpcConnections } from "../engine/connections.ts";
import { faultsWithRows, flushMs, type GrpcListener, ListenerCalls, type ListenerCallsOptions } from "../engine/listener-calls.ts";
import { type Refusal, recordRefusal } from "../engine/refusal.ts";
import type { ConnectErrors } from "./connect-error.ts";
import { type HeadOfExchange, headOf, openWebCall, type WebCallMaker } from "./open-web-call.ts";
import { createWebCors } from "./web-cors.ts";
import { Http1Exchange, Http2Exchange, refuse, type WebExchange } from "./web-exchange.ts";

export interface WebServerOptions extends ListenerCallsOptions, ConnectionsOptions {
  readonly port: number;
  readonly openToLan: boolean;
  readonly largestMessage: number;
  /** Of the request line and the header fields; a GET has its message there. */
  readonly metadataBytes: number;
  /** For the request of a method that takes one message. */
  readonly requestMs: number;
  /** For calls in flight when the service stops. */
  readonly graceMs: number;
  readonly tls:
    | { readonly certificates: TlsSource; readonly tlsHandshakes: number; readonly requireClientCertificate: boolean }
    | undefined;
  readonly corsOrigins: readonly string[];
  readonly errors: ConnectErrors;
  readonly grpcPort: () => number;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** On a connection of HTTP/1.1, where they are answered one after the other. */
const mostUnanswered = 8;
/** For the next request on a connection of HTTP/1.1. */
const idleTimeoutMs = 30_000;

/**
 * Serves gRPC-Web and Connect on one port, over HTTP/1.1 and HTTP/2: listener → connection → the version of HTTP by its first bytes, or by
 * ALPN → parser → `openWebCall` → `GrpcCall` → the method's handler.
 */
export async function listenWeb(options: WebServerOptions): Promise<GrpcListener> {
  const { log, recorder, onStop, tls } = options;
  const faults = faultsWithRows(options);
  onStop(() => faults.flush());
  const connections = new GrpcConnections(options, faults, (connection, why) => recorder.refused(connection, "connection", why));
  const calls = new ListenerCalls(options);
  const cors = createWebCors(options.corsOrigins);
  const maker: WebCallMaker = { ...options, cors, onFault };
  const ofSockets = new WeakMap<Socket, GrpcConnection>();
  const pipelines = new WeakMap<Socket, Pipeline>();
  const http1Servers = new Set<Server>();
  let draining = false;

  function onFault({ path }: CallHead, error: unknown): void {
    log.error(`The answer to ${path} could not be written: ${error instanceof Error ? error.stack : String(error)}`);
  }

  function serve(exchange: WebExchange): void {
    try {
      if (cors.isPreflight(exchange)) cors.answerPreflight(exchange);
      else {
        const opened = draining ? stopping : openWebCall(exchange, maker);
        if ("httpStatus" in opened) answerRefusal(exchange, opened);
        else calls.begin(opened);
      }
    } catch (error) {
      log.error(`A request for ${loggedTarget(exchange.target)} failed: ${error instanceof Error ? error.stack : String(error)}`);
      exchange.reset();
    }
  }

  /** Of a request that is no call. */
  function plainHead(exchange: HeadOfExchange): CallHead {
    const none = { timeoutMs: undefined, fault: undefined, acceptEncoding: "", requestEncoding: "" };
    return headOf(exchange, { protocol: "connect", codec: "proto", path: pathOf(exchange), ...none });
  }

  function answerRefusal(exchange: WebExchange, refusal: Refusal): void {
    const head = plainHead(exchange);
    const end = recordRefusal(recorder, head, options.methods.find(head.path), refusal);
    exchange.read({ onData() {}, onEnd() {}, onClose: () => end(exchange.answered) });
    refuse(exchange, refusal.httpStatus, refusal.why, cors.readable(exchange, refusal.fields ?? {}));
  }

  const takeHttp2 = (socket: Socket, connection: GrpcConnection): void =>
    connections.speaksHttp2(socket, connection, (stream, head) => serve(new Http2Exchange(stream, head, connection)));

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = ofSockets.get(socket);
    if (!connection) {
      socket.destroy();
      return;
    }
    const pipeline = pipelines.get(socket);
    pipeline?.begin(response);
    response.once("close", () => pipeline?.answered(response));
    const exchange = new Http1Exchange(request, response, connection);
    const refusal = malformedHead(request);
    if (refusal) answerRefusal(exchange, refusal);
    else serve(exchange);
  }

  /** Bytes that never became a request. */
  function onMalformed(error: ClientError, socket: Socket): void {
    const pipeline = pipelines.get(socket);
    if (pipeline?.isFault(error) === false) return;
    if (error.code === "ECONNRESET" || error.code === "EPIPE" || !socket.writable) {
      socket.destroy();
      return;
    }
    // Browsers open connections in advance and may never use them, which is not an error.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    const refuse = () => {
      if (socket.writable) refuseMalformed(error, socket);
    };
    if (pipeline?.whenAnswered(refuse) === false) socket.destroy();
    else if (!pipeline) refuse();
  }

  function refuseMalformed(error: ClientError, socket: Socket): void {
    const connection = ofSockets.get(socket);
    const { status, message } = malformedVerdict(error, error.rawPacket, options.metadataBytes);
    faults.write(`A request from ${connection?.remote ?? "a client"} was answered ${status}: ${message}`);
    if (connection) recordMalformed(connection, error.rawPacket, { httpStatus: status, why: message });
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n`;
    lingeringClose(socket, `${head}${message}\n`);
  }

  function recordMalformed(connection: GrpcConnection, bytes: Buffer | undefined, refusal: Refusal): void {
    const { method, target, httpVersion } = startLine(bytes);
    const version = httpVersion === "1.0" ? httpVersion : "1.1";
    const exchange = { target, httpMethod: method, httpVersion: version, authority: "", rawHeaders: [], connection } as const;
    recordRefusal(recorder, plainHead(exchange), undefined, refusal)(undefined);
  }

  const pipelineLimits = { unanswered: Math.min(mostUnanswered, options.concurrentStreams), headerBytes: options.metadataBytes };

  function createServers(material?: TlsOptions): Server {
    const serverOptions: ServerOptions = {
      ...pipelinedRequests,
      maxHeaderSize: options.metadataBytes,
      headersTimeout: options.handshakeMs,
      // A client's stream has no time limit; the request of a method that takes one message has `requestMs`.
      requestTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, options.handshakeMs),
      requireHostHeader: false,
      ...(options.keepaliveMs > 0 && { keepAlive: true, keepAliveInitialDelay: options.keepaliveMs }),
    };
    const server = material
      ? (createHttpsServer({ ...serverOptions, ...material, ...tlsOptions() } as object, onRequest) as unknown as Server)
      : createServer(serverOptions, onRequest);
    // As many as HTTP/2 allows by its count. Beyond them Node answers 431: its parser keeps each as texts before anybody is asked.
    server.maxHeadersCount = Math.ceil(options.metadataBytes / fieldOverhead);
    http1Servers.add(server);
    const opened = material ? "secureConnection" : "connection";
    const [serveHttp1] = server.listeners(opened) as ((socket: Socket) => void)[];
    if (!serveHttp1) throw new Error("an HTTP server takes connections");
    server.removeListener(opened, serveHttp1);
    server.on(opened, (socket: Socket) => {
      const connection = connections.admit(socket);
      if (!connection) return;
      ofSockets.set(socket, connection);
      if ((socket as TLSSocket).alpnProtocol === "h2") takeHttp2(socket, connection);
      else {
        readFirstBytes(socket, options.handshakeMs, isHttp2Preface, (isHttp2) => {
          if (isHttp2) takeHttp2(socket, connection);
          else {
            serveHttp1.call(server, socket);
            const forget = () => void pipelines.delete(socket);
            pipelines.set(socket, new Pipeline(socket, pipelineLimits, connection.work, forget, memoryOf(connection, socket)));
            socket.resume();
          }
        });
      }
    });
    server.on("clientError", onMalformed as never);
    return server;
  }

  const tlsOptions = () => ({
    ALPNProtocols: ["h2", "http/1.1"],
    // A browser asks its user for a certificate even if it is optional.
    requestCert: tls?.requireClientCertificate ?? false,
    rejectUnauthorized: tls?.requireClientCertificate ?? false,
  });

  const { port: wanted, openToLan } = options;
  const port = tls
    ? await listenTls({
        port: wanted,
        openToLan,
        onStop,
        places: connections,
        turns: options.turns,
        ...tls,
        faults,
        handshakeMs: options.handshakeMs,
        createServer: (material) => createServers(material) as unknown as TlsServer,
      })
    : await listenTcp({ port: wanted, openToLan, onStop, places: connections, createServer: () => createServers() });
  onStop(drain);

  async function drain(): Promise<void> {
    if (draining) return;
    draining = true;
    connections.admitNoMore();
    void connections.leave();
    for (const server of http1Servers) server.closeIdleConnections();
    await calls.drain(options.graceMs);
    // A connection closes when its last bytes have left.
    for (const server of http1Servers) server.closeIdleConnections();
    await connections.whenNone(flushMs);
    connections.destroyAll();
  }

  return { port, connections, drain };
}

/** What its pipeline holds is returned when the connection is closed. */
function memoryOf({ shares }: GrpcConnection, socket: Socket): PipelineMemory {
  let held = 0;
  const unparsed = (bytes: number): void => {
    if (socket.closed) return;
    held += bytes;
    shares.memory.add(bytes);
  };
  socket.once("close", () => {
    shares.memory.add(-held);
  });
  return { isScarce: false, unparsed };
}

const pathOf = ({ target }: Pick<WebExchange, "target">): string => target.split("?", 1)[0] as string;

const stopping: Refusal = { httpStatus: 503, why: "The service is stopping", fields: { connection: "close" } };

/** RFC 9112 §3.2 and §6.1, RFC 9110 §15.6.6: what Node's parser lets pass. */
function malformedHead(request: IncomingMessage): Refusal | undefined {
  const fields = { connection: "close" };
  if (!hasValidHost(request)) return { httpStatus: 400, why: "A valid Host field is needed, once", fields };
  const { httpVersion } = request;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return { httpStatus: 505, why: "Only HTTP/1.1 and HTTP/2 are supported", fields };
  }
  const coding = request.headers["transfer-encoding"];
  if (coding === undefined || coding.trim().toLowerCase() === "chunked") return undefined;
  return { httpStatus: 501, why: "The only supported Transfer-Encoding is chunked", fields };
}

/** RFC 9113 §3.4: the first bytes of an HTTP/2 client. No method of HTTP/1.1 begins with the same three letters. */
const preface = "PRI";

function isHttp2Preface(first: Buffer): boolean | undefined {
  const start = first.toString("latin1", 0, preface.length);
  if (start.length < preface.length && preface.startsWith(start)) return undefined;
  return start === preface;
}
