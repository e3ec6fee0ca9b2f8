import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from "node:tls";
import { pipelinedRequests } from "../../core/http/connections/pipelined-request.ts";
import { createOriginCheck } from "../../core/net/allowed-origins.ts";
import { closeInTurns } from "../../core/net/close-in-turns.ts";
import { EndsInTurns } from "../../core/net/ends-in-turns.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import { WorkTurns } from "../../core/turns/work-turns.ts";
import type { Engine } from "../engine/engine.ts";
import type { ListenerPorts } from "../mqtt-endpoints.ts";
import { serveSocket } from "./socket-transport.ts";
import { serveWebSockets } from "./websocket-transport.ts";

export interface ListenersOptions {
  readonly engine: Engine;
  readonly ports: ListenerPorts;
  readonly openToLan: boolean;
  /** Origins of web pages that may use the WebSocket ports, in addition to pages of this computer. */
  readonly allowedOrigins: readonly string[];
  /** Called only if a port needs it. */
  readonly tls: () => Promise<TlsSource>;
  readonly tlsHandshakes: number;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

const longestHandshakeMs = 3_000;

/** Resolves with the real ports when all of them listen. */
export async function startListeners(options: ListenersOptions): Promise<ListenerPorts> {
  const { engine, ports, openToLan, allowedOrigins, tls, tlsHandshakes, onStop } = options;
  const turns = new WorkTurns();
  const ends = new EndsInTurns(turns.connection(""));
  const { connectTimeoutMs } = engine.limits;
  const isOriginAllowed = createOriginCheck(allowedOrigins);
  // The engine decides who gives way to one more, and `tlsHandshakes` where it is not a connection of the engine yet.
  const { places } = engine;
  const onAccepted = () => engine.scheduler.accepted();
  const listen = (port: number, createServer: () => Server) => listenTcp({ port, openToLan, onStop, places, onAccepted, createServer });

  // For the upgrade; then the same time applies to the CONNECT.
  const requestTimes = { headersTimeout: connectTimeoutMs, requestTimeout: connectTimeoutMs, connectionsCheckingInterval: 250 };
  const requests = { ...pipelinedRequests, ...requestTimes };
  const mqtt = await listen(ports.mqtt, () =>
    createTcpServer({ noDelay: true }, (socket) => {
      ends.take(socket);
      closeInTurns(socket, turns.connection(socket.remoteAddress ?? ""));
      serveSocket(engine, socket, false);
    }),
  );
  const webSocket =
    ports.webSocket === undefined
      ? undefined
      : await listen(ports.webSocket, () => {
          const server = createHttpServer(requests);
          serveWebSockets(engine, server, { encrypted: false, isOriginAllowed, turns, ends });
          return server;
        });
  if (ports.mqtts === undefined && ports.secureWebSocket === undefined)
    return { mqtt, webSocket, mqtts: undefined, secureWebSocket: undefined };

  const certificates = await tls();
  const faults = new FaultLog(engine.log, ({ peer, why }) => engine.observer.handshakeFailed?.(peer, why));
  onStop(() => faults.flush());
  const handshakeMs = Math.min(connectTimeoutMs, longestHandshakeMs);
  const listenEncrypted = (port: number, createServer: (options: TlsOptions) => TlsServer) =>
    listenTls({
      port,
      openToLan,
      onStop,
      places,
      onAccepted,
      certificates,
      turns,
      tlsHandshakes,
      faults,
      handshakeMs,
      createServer,
    });
  const mqtts =
    ports.mqtts === undefined
      ? undefined
      : await listenEncrypted(ports.mqtts, (options) => {
          const server = createTlsServer({ ...options, noDelay: true } as TlsOptions, (socket) => serveSocket(engine, socket, true));
          return server;
        });
  const secureWebSocket =
    ports.secureWebSocket === undefined
      ? undefined
      : await listenEncrypted(ports.secureWebSocket, (options) => {
          const server = createHttpsServer({ ...options, ...requests });
          serveWebSockets(engine, server, { encrypted: true, isOriginAllowed, turns, ends });
          return server;
        });
  return { mqtt, webSocket, mqtts, secureWebSocket };
}
