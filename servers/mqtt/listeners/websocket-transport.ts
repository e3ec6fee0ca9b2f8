import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { boundPipelines } from "../../core/http/connections/bound-pipelines.ts";
import { acceptWebSocket } from "../../core/http/websocket/accept-web-socket.ts";
import { closeCode } from "../../core/http/websocket/close-code.ts";
import type { ServerWebSocket } from "../../core/http/websocket/server-web-socket.ts";
import { offeredProtocols } from "../../core/http/websocket/websocket-handshake.ts";
import { lingeringClose } from "../../core/net/client-socket.ts";
import type { EndsInTurns } from "../../core/net/ends-in-turns.ts";
import { endsBy } from "../../core/net/open-sockets.ts";
import { oneStep } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { Place } from "../engine/connection/places.ts";
import type { Transport } from "../engine/delivery/output.ts";
import { WaitingWrites } from "../engine/delivery/waiting-writes.ts";
import type { Engine } from "../engine/engine.ts";
import { certificateName, openSafely, peerOf } from "./socket-transport.ts";

const lingerMs = 1_000;
/** [MQTT-6.0.0-3]; 3.1 clients request the second one. */
const protocols = ["mqtt", "mqttv3.1"];

class WebSocketTransport implements Transport {
  /** All that had to wait is sent. */
  drained: () => void = () => {};
  private readonly waiting = new WaitingWrites();
  private readonly socket: ServerWebSocket;
  private readonly onSent = () => {
    if (this.socket.bufferedAmount > 0) return;
    if (this.waiting.bytes > 0) this.writeWaiting();
    else this.drained();
  };

  constructor(socket: ServerWebSocket) {
    this.socket = socket;
  }

  get pendingBytes(): number {
    return this.socket.bufferedAmount + this.waiting.bytes;
  }

  get arrivingBytes(): number {
    return this.socket.arrivingBytes;
  }

  write(bytes: Buffer): boolean {
    if (!this.socket.isOpen) return true;
    if (this.socket.bufferedAmount > 0) return this.waiting.add(bytes);
    this.socket.send(bytes, { binary: true }, this.onSent);
    return false;
  }

  private writeWaiting(): void {
    for (const bytes of this.waiting.take()) this.socket.send(bytes, { binary: true }, this.onSent);
  }

  end(): void {
    if (this.waiting.bytes > 0) this.writeWaiting();
    this.socket.close(closeCode.normal, "", lingerMs);
  }

  destroy(): void {
    this.socket.terminate();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }
}

export interface WebSocketOptions {
  readonly encrypted: boolean;
  readonly isOriginAllowed: (origin: string | undefined) => boolean;
  /** Of all listeners. */
  readonly turns: WorkTurns;
  readonly ends: EndsInTurns;
}

const refusedOriginLogMs = 10_000;

/** Serves MQTT over WebSocket (§6) on every path of an HTTP server. */
export function serveWebSockets(engine: Engine, server: Server, { encrypted, isOriginAllowed, turns, ends }: WebSocketOptions): void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  // A frame may contain several packets and parts of packets.
  const messageBytes = Math.max(engine.limits.maximumPacketSize, 1 << 20) + 1_024;
  const places = new WeakMap<Socket, Place>();
  server.on(encrypted ? "secureConnection" : "connection", (socket: Socket) => {
    const place = engine.takePlace(socket.remoteAddress ?? "", () => socket.destroy());
    if (!place) {
      socket.destroy();
      return;
    }
    places.set(socket, place);
    socket.once("close", () => engine.places.free(place));
  });
  // Of what is no upgrade only the first request is answered, and no more is read.
  const pipelineOf = boundPipelines(server, 1, turns);
  server.on("request", (_request, response) => {
    response.writeHead(426, { "content-type": "text/plain; charset=utf-8", upgrade: "websocket", connection: "Upgrade, close" });
    response.end("This port speaks MQTT over WebSocket, subprotocol mqtt.\n");
  });
  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { origin } = request.headers;
    if (!isOriginAllowed(origin)) {
      // Limited: a page may retry many times a second.
      if (performance.now() - loggedAt >= refusedOriginLogMs) {
        loggedAt = performance.now();
        engine.log.warning(
          `A web page of ${origin?.slice(0, 200)} was refused: only pages of this computer may connect over WebSocket. Add its origin to Allowed origins (MQTT_ALLOWED_ORIGINS) to allow it.`,
        );
      }
      lingeringClose(
        socket,
        "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nThis origin is not in MQTT_ALLOWED_ORIGINS.\n",
      );
      return;
    }
    const offered = offeredProtocols(request);
    if (!protocols.some((protocol) => offered.includes(protocol))) {
      lingeringClose(
        socket,
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\nOffer the subprotocol mqtt.\n",
      );
      return;
    }
    const webSocket = acceptWebSocket(request, socket, head, {
      messageBytes,
      work: turns.connection(socket.remoteAddress ?? ""),
      choose: (offered) => protocols.find((protocol) => offered.includes(protocol)),
    });
    // Behind TLS the connection below has a part in them.
    if (!encrypted) ends.take(socket);
    if (webSocket) serveWebSocket(engine, webSocket, socket, encrypted, places.get(socket));
  }
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const pipeline = pipelineOf(socket);
    // A "close" event follows.
    socket.on("error", () => {});
    // Thousands may ask for it at once.
    if (pipeline) void pipeline.work.run(oneStep(() => openSafely(engine, socket, () => upgrade(request, socket, head))));
    else socket.destroy();
  });
}

function serveWebSocket(engine: Engine, webSocket: ServerWebSocket, socket: Socket, encrypted: boolean, place: Place | undefined): void {
  const transport = new WebSocketTransport(webSocket);
  const origin = {
    transport: encrypted ? ("wss" as const) : ("ws" as const),
    peer: peerOf(socket),
    ...(encrypted && { certificateName: certificateName(socket as TLSSocket) }),
  };
  const connection = engine.open(transport, origin, place);
  transport.drained = () => connection.drained();
  endsBy(socket, (why) => connection.cutOff(why));
  webSocket.on("message", (data, isBinary) => {
    // [MQTT-6.0.0-1]
    if (!isBinary) {
      webSocket.close(closeCode.unsupportedData, "MQTT is binary.");
      connection.close("The WebSocket received a text frame.");
      return;
    }
    connection.receive(data);
  });
  webSocket.on("read", () => connection.countArriving());
  webSocket.on("close", () => connection.close("The connection was lost.", true));
}
