import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { HeldWebSocket } from "../../core/http/websocket/held-web-socket.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { connectionHead } from "../../core/net/client-socket.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { ClientInput } from "./client-input.ts";

export interface WebSocketLimits {
  /** Of one message. A longer one ends the connection with 1009. */
  readonly messageBytes: number;
  /** Of one client. One that sends more is read no faster. */
  readonly messagesPerSecond: number;
  /** Silence after which a client gets a ping, and the same time once more for its answer. */
  readonly heartbeatMs: number;
  /** A client that leaves more unread is disconnected. */
  readonly unsentBytes: number;
}

export interface WebSocketClientsOptions {
  readonly limits: WebSocketLimits;
  readonly faults: FaultLog;
  readonly held: SharedBudget;
  /** Of all clients: what they send is read and handled in them. */
  readonly turns: WorkTurns;
}

/** What a dialect does with a client. */
export interface WebSocketHandler {
  onText(client: WebSocketClient, text: Buffer): void;
  /** Absent where bytes are refused with 1003. */
  onBytes?(client: WebSocketClient, bytes: Buffer): void;
  /** Once, also where the service has closed it. */
  onClosed(client: WebSocketClient, reason: string): void;
}

/** RFC 6455 §7.4.1 */
export const closeCode = {
  normal: 1_000,
  goingAway: 1_001,
  unsupportedData: 1_003,
  policy: 1_008,
  tooBig: 1_009,
  internalError: 1_011,
  tryAgain: 1_013,
} as const;
const lingerMs = 1_000;
const mostReasonBytes = 120;

interface ReadMessage {
  readonly kind: "text" | "bytes" | "ping";
  readonly data: Buffer;
}

/** A client over a WebSocket. */
export class WebSocketClient {
  readonly connection: ConnectionHead;
  readonly userAgent: string;
  readonly origin: string | undefined;
  readonly handler: WebSocketHandler;
  /** For the dialect: who this is. */
  peer: unknown;
  readonly #socket: SignallingSocket;
  readonly held: HeldWebSocket;
  /** In milliseconds of `performance.now`. */
  heardAt = performance.now();
  isPinged = false;
  /** Messages since the last tick, for the rate. */
  recent = 0;
  /** Of all that it does. */
  readonly work: WorkConnection;
  readonly input: ClientInput<ReadMessage>;
  /** Why we have closed it. */
  why: string | undefined;

  constructor(
    socket: SignallingSocket,
    connection: ConnectionHead,
    { headers, socket: tcp }: IncomingMessage,
    handler: WebSocketHandler,
    clients: WebSocketClients,
    work: WorkConnection,
  ) {
    this.#socket = socket;
    this.work = work;
    this.held = new HeldWebSocket(socket, tcp, clients.heldBytes, work, ({ reason }) => {
      this.why ??= reason;
      this.input.clear();
    });
    this.input = new ClientInput(
      work,
      (message) => clients.take(this, message),
      (isReading) => (isReading ? socket.resume() : socket.pause()),
    );
    this.connection = connection;
    this.userAgent = (headers["user-agent"] ?? "").slice(0, 300);
    this.origin = headers.origin?.slice(0, 300);
    this.handler = handler;
  }

  /** What the client has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  sendText(text: string | Buffer): void {
    if (this.isOpen) this.#socket.send(text, textFrame, ignoreError);
  }

  sendBytes(bytes: Buffer): void {
    if (this.isOpen) this.#socket.send(bytes, binaryFrame, ignoreError);
  }

  ping(): void {
    this.isPinged = true;
    if (this.isOpen) this.#socket.ping();
  }

  pong(data: Buffer): void {
    if (this.isOpen) this.#socket.pong(data, undefined, ignoreError);
  }

  /** With a close frame; at once where the client has left too much unread to get it. */
  close(code: number, reason: string): void {
    this.why ??= reason;
    this.input.clear();
    if (this.#socket.readyState >= WebSocket.CLOSING) return;
    this.#socket.resume();
    this.#socket.close(code, cutReason(reason));
    const timer = setTimeout(() => this.#socket.terminate(), this.unsentBytes > 0 ? 0 : lingerMs);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  terminate(reason: string): void {
    this.why ??= reason;
    this.input.clear();
    this.#socket.terminate();
  }
}

const textFrame = { binary: false, compress: false } as const;
const binaryFrame = { binary: true, compress: false } as const;
/** "close" follows. */
const ignoreError = () => {};

const cutReason = (reason: string): string =>
  Buffer.byteLength(reason) <= mostReasonBytes ? reason : reason.slice(0, mostReasonBytes / 3);

/** Knows its client, so that its listeners are the same functions for all. */
class SignallingSocket extends WebSocket {
  client: WebSocketClient | undefined;
  clients: WebSocketClients | undefined;
}

/** The WebSockets of all dialects: handshake, limits and heartbeat, with one timer for all of them. */
export class WebSocketClients {
  readonly #limits: WebSocketLimits;
  readonly #faults: FaultLog;
  /** Of messages that arrive, or wait for their client's turn. */
  readonly heldBytes: SharedBudget;
  readonly #server: WebSocketServer;
  readonly #clients = new Set<WebSocketClient>();
  /** They send too fast. */
  readonly #fast = new Set<WebSocketClient>();
  readonly #timer: NodeJS.Timeout;
  readonly #turns: WorkTurns;
  #nextId = 1;

  constructor({ limits, faults, held, turns }: WebSocketClientsOptions) {
    this.#limits = limits;
    this.#turns = turns;
    this.#faults = faults;
    this.heldBytes = held;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.messageBytes,
      // Its windows cost more memory for each client than all the rest.
      perMessageDeflate: false,
      clientTracking: false,
      // Messages are handed over in turns: a packet may contain thousands of tiny ones.
      allowSynchronousEvents: false,
      // A pong stands behind what the messages before the ping have caused.
      autoPong: false,
      WebSocket: SignallingSocket,
    });
    this.#timer = setInterval(() => this.#tick(), Math.min(tickMs, limits.heartbeatMs / 2));
  }

  /** Calls back with the client before it returns, unless the handshake has failed. */
  accept(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    handler: WebSocketHandler,
    onOpen: (client: WebSocketClient) => void,
  ): void {
    socket.setNoDelay(true);
    const connection = connectionHead(this.#nextId++, socket);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const webSocket = opened as SignallingSocket;
      const client = new WebSocketClient(webSocket, connection, request, handler, this, this.#turns.connection(socket.remoteAddress ?? ""));
      webSocket.client = client;
      webSocket.clients = this;
      this.#clients.add(client);
      webSocket.on("message", onMessage);
      webSocket.on("ping", onPing);
      webSocket.on("pong", onPong);
      webSocket.on("error", onError);
      webSocket.on("close", onClose);
      this.run(client, () => onOpen(client));
    });
  }

  /** A fault in the work for one client ends its connection alone. */
  run(client: WebSocketClient, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#faults.failed(client.connection, error);
      client.close(closeCode.internalError, "Internal error");
    }
  }

  received(client: WebSocketClient, message: ReadMessage): void {
    heard(client);
    client.held.waitingBytes += message.data.length;
    client.held.count();
    client.input.receive(message);
  }

  take(client: WebSocketClient, { kind, data }: ReadMessage): void {
    client.held.waitingBytes -= data.length;
    // We have closed it.
    if (client.why !== undefined) return;
    if (++client.recent > this.#limits.messagesPerSecond && !this.#fast.has(client)) {
      this.#faults.write(
        `The client at ${client.connection.remote} sends more than ${this.#limits.messagesPerSecond} messages a second: it is read no faster.`,
      );
      client.input.hold();
      this.#fast.add(client);
    }
    this.run(client, () => this.#carryOut(client, kind, data));
    client.held.count();
    // Answers that no room is told of: the hub does not see them.
    if (client.unsentBytes > this.#limits.unsentBytes) client.close(closeCode.goingAway, "it reads too slowly");
  }

  #carryOut(client: WebSocketClient, kind: ReadMessage["kind"], data: Buffer): void {
    switch (kind) {
      case "text":
        client.handler.onText(client, data);
        return;
      case "bytes":
        if (client.handler.onBytes) client.handler.onBytes(client, data);
        else {
          this.#faults.closed(client.connection, "it sent bytes where text is due");
          client.close(closeCode.unsupportedData, "Messages are text");
        }
        return;
      case "ping":
        client.pong(data);
        return;
      default:
        kind satisfies never;
    }
  }

  /** Goes on with a message in the next turn of the event loop, or when it is the client's turn; the client is held until then. */
  goOn(client: WebSocketClient, work: () => void): void {
    client.input.hold();
    const goOn = (): void => {
      if (share.isOver) {
        share.later();
        return;
      }
      this.run(client, work);
      client.input.release();
    };
    const share = client.work.join(goOn);
    setImmediate(goOn);
  }

  /** The connection cannot go on; its end follows. */
  failed(client: WebSocketClient, error: Error): void {
    client.why ??= error.message;
    this.#faults.closed(client.connection, error.message);
  }

  closed(client: WebSocketClient, code: number): void {
    this.#clients.delete(client);
    if (this.#fast.delete(client)) client.input.release();
    client.input.end(() => this.run(client, () => client.handler.onClosed(client, client.why ?? closeText(code))));
  }

  #tick(): void {
    for (const client of this.#fast) {
      client.recent = 0;
      client.input.release();
    }
    this.#fast.clear();
    const now = performance.now();
    const { heartbeatMs } = this.#limits;
    for (const client of this.#clients) {
      client.recent = 0;
      // Nothing of what it sends is read.
      if (client.input.isHeld) heard(client);
      const silentMs = now - client.heardAt;
      if (silentMs < heartbeatMs) continue;
      if (!client.isPinged) client.ping();
      else if (silentMs >= 2 * heartbeatMs) client.terminate("no answer to a ping");
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const client of this.#clients) client.close(closeCode.goingAway, "The service stops");
    this.#server.close();
  }
}

const tickMs = 1_000;

function heard(client: WebSocketClient): void {
  client.heardAt = performance.now();
  client.isPinged = false;
}

function onMessage(this: WebSocket, data: unknown, isBinary: boolean): void {
  const { client, clients } = this as SignallingSocket;
  if (client) clients?.received(client, { kind: isBinary ? "bytes" : "text", data: data as Buffer });
}

function onPing(this: WebSocket, data: Buffer): void {
  const { client, clients } = this as SignallingSocket;
  if (client) clients?.received(client, { kind: "ping", data });
}

function onPong(this: WebSocket): void {
  const { client } = this as SignallingSocket;
  if (client) heard(client);
}

function onError(this: WebSocket, error: Error): void {
  const { client, clients } = this as SignallingSocket;
  if (client) clients?.failed(client, error);
}

function onClose(this: WebSocket, code: number): void {
  const { client, clients } = this as SignallingSocket;
  if (client) clients?.closed(client, code);
}

function closeText(code: number): string {
  if (code === 1_006) return "the connection was lost";
  return code === closeCode.normal || code === closeCode.goingAway || code === 1_005 ? "the client left" : `closed ${code}`;
}
