import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import type { Endpoint } from "../../../contract/service.ts";
import { listenTcp } from "../../core/tcp-listener.ts";
import type { Engine } from "../engine/engine.ts";
import { serveSocket } from "./socket-transport.ts";
import { serveWebSockets } from "./websocket-transport.ts";

/** Undefined: off. */
export interface ListenerPorts {
  readonly mqtt: number;
  readonly webSocket: number | undefined;
  readonly mqtts: number | undefined;
  readonly secureWebSocket: number | undefined;
}

export interface ListenersOptions {
  readonly engine: Engine;
  readonly ports: ListenerPorts;
  readonly openToLan: boolean;
  /** Asked for only where a port needs it. */
  readonly tls: () => Promise<TlsOptions>;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

/** A handshake that does not go on must not hold up a stop. */
const handshakeTimeoutMs = 3_000;

/** Resolves when all of them listen. */
export async function startListeners({ engine, ports, openToLan, tls, onStop }: ListenersOptions): Promise<Endpoint[]> {
  const listen = (port: number, createServer: () => Server) => listenTcp({ port, openToLan, onStop, createServer });
  const endpoints: Endpoint[] = [];

  const mqtt = await listen(ports.mqtt, () => createTcpServer({ noDelay: true }, (socket) => serveSocket(engine, socket, false)));
  endpoints.push({ label: "MQTT", url: `mqtt://127.0.0.1:${mqtt}` });

  if (ports.webSocket !== undefined) {
    const port = await listen(ports.webSocket, () => {
      const server = createHttpServer();
      serveWebSockets(engine, server, false);
      return server;
    });
    endpoints.push({ label: "WS", url: `ws://127.0.0.1:${port}` });
  }
  if (ports.mqtts === undefined && ports.secureWebSocket === undefined) return endpoints;

  const tlsOptions: TlsOptions = { ...(await tls()), handshakeTimeout: handshakeTimeoutMs };
  if (ports.mqtts !== undefined) {
    const port = await listen(ports.mqtts, () => {
      const server = createTlsServer({ ...tlsOptions, noDelay: true } as TlsOptions, (socket) => serveSocket(engine, socket, true));
      server.on("tlsClientError", (error) => engine.log.debug(`A TLS handshake failed: ${error.message}`));
      return server;
    });
    endpoints.push({ label: "MQTTS", url: `mqtts://127.0.0.1:${port}` });
  }
  if (ports.secureWebSocket !== undefined) {
    const port = await listen(ports.secureWebSocket, () => {
      const server = createHttpsServer(tlsOptions);
      serveWebSockets(engine, server, true);
      return server;
    });
    endpoints.push({ label: "WSS", url: `wss://127.0.0.1:${port}` });
  }
  return endpoints;
}
