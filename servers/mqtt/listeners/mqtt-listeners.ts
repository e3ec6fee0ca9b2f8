import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from "node:tls";
import { createOriginCheck } from "../../core/net/allowed-origins.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import type { Engine } from "../engine/engine.ts";
import type { ListenerPorts } from "../mqtt-endpoints.ts";
import { serveSocket } from "./socket-transport.ts";
import { serveWebSockets } from "./websocket-transport.ts";

export interface ListenersOptions {
  readonly engine: Engine;
  readonly ports: ListenerPorts;
  readonly openToLan: boolean;
  /** Of web pages that use the WebSocket ports, beside pages of this computer. */
  readonly allowedOrigins: readonly string[];
  /** Asked for only where a port needs it. */
  readonly tls: () => Promise<TlsSource>;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** A handshake that does not go on must not hold up a stop. */
const longestHandshakeMs = 3_000;

/** Resolves with the real ports when all of them listen. */
export async function startListeners({ engine, ports, openToLan, allowedOrigins, tls, onStop }: ListenersOptions): Promise<ListenerPorts> {
  const { connectTimeoutMs, sockets } = engine.limits;
  const isOriginAllowed = createOriginCheck(allowedOrigins);
  // Handshakes that do not go on are sockets too, and no connections of the engine's.
  const bounded = <Bounded extends Server>(server: Bounded): Bounded => {
    server.maxConnections = sockets;
    return server.on("drop", () => engine.observer.turnedAway?.());
  };
  const listen = (port: number, createServer: () => Server) =>
    listenTcp({ port, openToLan, onStop, createServer: () => bounded(createServer()) });

  // Of the upgrade; the CONNECT has as long again.
  const requestTimes = { headersTimeout: connectTimeoutMs, requestTimeout: connectTimeoutMs, connectionsCheckingInterval: 250 };
  const mqtt = await listen(ports.mqtt, () => createTcpServer({ noDelay: true }, (socket) => serveSocket(engine, socket, false)));
  const webSocket =
    ports.webSocket === undefined
      ? undefined
      : await listen(ports.webSocket, () => {
          const server = createHttpServer(requestTimes);
          serveWebSockets(engine, server, { encrypted: false, isOriginAllowed });
          return server;
        });
  if (ports.mqtts === undefined && ports.secureWebSocket === undefined)
    return { mqtt, webSocket, mqtts: undefined, secureWebSocket: undefined };

  const certificates = await tls();
  const handshakeTimeout = Math.min(connectTimeoutMs, longestHandshakeMs);
  const listenEncrypted = (port: number, createServer: (options: TlsOptions) => TlsServer) =>
    listenTls({
      port,
      openToLan,
      onStop,
      certificates,
      createServer: (options) => bounded(createServer({ ...options, handshakeTimeout })),
    });
  const mqtts =
    ports.mqtts === undefined
      ? undefined
      : await listenEncrypted(ports.mqtts, (options) => {
          const server = createTlsServer({ ...options, noDelay: true } as TlsOptions, (socket) => serveSocket(engine, socket, true));
          server.on("tlsClientError", (error, socket) => {
            engine.log.debug(`A TLS handshake failed: ${error.message}`);
            // Node closes it after an error, and leaves it open when its time is over.
            socket.destroy();
          });
          return server;
        });
  const secureWebSocket =
    ports.secureWebSocket === undefined
      ? undefined
      : await listenEncrypted(ports.secureWebSocket, (options) => {
          const server = createHttpsServer({ ...options, ...requestTimes });
          serveWebSockets(engine, server, { encrypted: true, isOriginAllowed });
          return server;
        });
  return { mqtt, webSocket, mqtts, secureWebSocket };
}
