import type { RemoteInfo } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { SharedBudget } from "../../core/limits/shared-budget.ts";
import { ConnectionCount, type ConnectionLimits } from "../../core/net/connection-count.ts";
import { DatagramShares } from "../../core/net/datagram-shares.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import { endsBy, takeSocket } from "../../core/net/open-sockets.ts";
import { listenTcp } from "../../core/net/tcp-listener.ts";
import { listenTls, type TlsSource } from "../../core/net/tls-listener.ts";
import { listenUdp } from "../../core/net/udp-listener.ts";
import type { UdpPlace } from "../../core/net/udp-place.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { looksLikeRequest } from "../stun/stun-message.ts";
import { StreamClient } from "./stream-client.ts";
import { TurnEngine, type TurnEngineOptions } from "./turn-engine.ts";
import { UdpClients } from "./udp-clients.ts";

export interface TurnServerOptions extends TurnEngineOptions {
  /** Of UDP and TCP; 0 picks one that is free for both. */
  readonly port: number;
  readonly tls?: { readonly port: number; readonly certificates: TlsSource; readonly tlsHandshakes: number } | undefined;
  readonly streams: ConnectionLimits & {
    readonly unsentBytes: number;
    /** Of all clients. */
    readonly allUnsentBytes: number;
    /** Without an allocation and without a message. */
    readonly idleMs: number;
  };
  /** Of the system's buffer for datagrams that wait to be read. */
  readonly receiveBufferBytes: number;
  /** Requests of one socket over UDP that are worked on, per second. */
  readonly requestsPerSecond: number;
  readonly tickMs?: number;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

export interface TurnServer {
  readonly port: number;
  /** 0 without TLS. */
  readonly tlsPort: number;
  readonly engine: TurnEngine;
}

const udpQueues = 8;
const standardTickMs = 1_000;
const handshakeMs = 10_000;
const attempts = 20;

/** Serves STUN and TURN over UDP, TCP and TLS. Resolves when all listen. */
export async function listenTurn(options: TurnServerOptions): Promise<TurnServer> {
  const { openToLan, streams, tls, turns, onStop, log, now = () => performance.now() } = options;
  const unsent = new SharedBudget(streams.allUnsentBytes);
  const engine = new TurnEngine(options, unsent);
  const connections = new Set<StreamClient>();
  const faults = new FaultLog(log, (failure) => options.observer?.onHandshakeFailed?.(failure));
  onStop(() => faults.flush());
  const count = new ConnectionCount(streams, faults);
  const datagrams = new Map<UdpPlace, UdpClients>();
  const shares = new DatagramShares({ perSecond: options.requestsPerSecond, what: "Requests of STUN and TURN", log, now });

  function accept(transport: "tcp" | "tls", socket: Socket): void {
    if (!count.admit(socket)) {
      engine.connectionsRefused = count.refused;
      return;
    }
    takeSocket(socket, turns);
    const client = new StreamClient({
      ...{ transport, socket, now, turns, unsent, unsentBytes: streams.unsentBytes },
      onMessage: (from, bytes, start, end) => engine.receive(from, bytes, start, end),
      onClosed(closed, why) {
        connections.delete(closed);
        engine.connections = connections.size;
        engine.forget(closed);
        if (why !== undefined) engine.reports.write(`The connection of ${closed.address}:${closed.port} was closed: ${why}`);
      },
    });
    connections.add(client);
    endsBy(socket, (why) => client.end(why));
    engine.connections = connections.size;
  }

  function clientsAt(place: UdpPlace): UdpClients {
    const known = datagrams.get(place);
    if (known) return known;
    const clients = new UdpClients(place);
    datagrams.set(place, clients);
    return clients;
  }

  function receiveDatagram(datagram: Buffer, from: RemoteInfo, place: UdpPlace): void {
    if (engine.isFromRelay(from)) return;
    const clients = clientsAt(place);
    const client = clients.find(from);
    if (looksLikeRequest(datagram) && !shares.take(from, client.allocation !== undefined)) return;
    engine.receive(client, datagram, 0, datagram.length);
    if (client.isAllocating) clients.keep(client);
  }

  const listenBoth = async (wanted: number, release: (close: () => Promise<void>) => void): Promise<number> => {
    const { port } = await listenUdp({
      ...{ port: wanted, openToLan, onStop: release, log, receiveBufferBytes: options.receiveBufferBytes, queues: udpQueues },
      onMessage: receiveDatagram,
      isUsedUp: () => turns.isUsedUp(),
    });
    return await listenTcp({
      port,
      openToLan,
      onStop: release,
      places: count,
      createServer: () => createServer((socket) => accept("tcp", socket)),
    });
  };
  const port = await retryAnyPort(options.port, listenBoth, () => datagrams.clear(), onStop);
  const tlsPort = tls
    ? await listenTls({
        ...tls,
        turns,
        openToLan,
        faults,
        handshakeMs,
        onStop,
        places: count,
        createServer: (material) => createTlsServer(material, (socket) => accept("tls", socket)),
      })
    : 0;

  const timer = setInterval(() => {
    void engine.tick();
    const at = now();
    for (const [place, clients] of datagrams) if (clients.sweep()) datagrams.delete(place);
    void turns.each([...connections], (connection) => connection.tick(at, streams.idleMs));
  }, options.tickMs ?? standardTickMs);
  onStop(async () => {
    clearInterval(timer);
    await engine.stop();
    for (const connection of connections) connection.end();
  });
  return { port, tlsPort, engine };
}

/** A port that the system picks for UDP may be taken for TCP: then another one. */
async function retryAnyPort(
  wanted: number,
  listen: (port: number, release: (close: () => Promise<void>) => void) => Promise<number>,
  onRetry: () => void,
  onStop: TurnServerOptions["onStop"],
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const releases: (() => Promise<void>)[] = [];
    const closeAll = async () => void (await Promise.all(releases.map((release) => release())));
    try {
      const port = await listen(wanted, (close) => void releases.push(close));
      onStop(closeAll);
      return port;
    } catch (error) {
      await closeAll();
      onRetry();
      if (wanted !== 0 || attempt === attempts || !(error instanceof ServiceError && error.code === "PORT_IN_USE")) throw error;
    }
  }
}
