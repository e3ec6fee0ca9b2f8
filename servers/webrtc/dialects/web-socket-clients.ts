import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { acceptWebSocket } from "../../core/http/websocket/accept-web-socket.ts";
import { closeCode } from "../../core/http/websocket/close-code.ts";
import { HeldWebSocket } from "../../core/http/websocket/held-web-socket.ts";
import type { ServerWebSocket } from "../../core/http/websocket/server-web-socket.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { connectionHead } from "../../core/net/client-socket.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { Peer } from "../signalling/peer.ts";
import type { UnsentBytes } from "../signalling/unsent-bytes.ts";
import { ClientInput } from "./client-input.ts";
import { type ClientSessions, tooManySessions } from "./client-sessions.ts";

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
  /** Of all dialects. */
  readonly sessions: ClientSessions;
  /** What clients leave unread that are peers. */
  readonly unsent: Pick<UnsentBytes, "look">;
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
  readonly #socket: ServerWebSocket;
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
    socket: ServerWebSocket,
    connection: ConnectionHead,
    { headers, socket: tcp }: IncomingMessage,
    handler: WebSocketHandler,
    clients: WebSocketClients,
    work: WorkConnection,
  ) {
    this.#socket = socket;
    this.work = work;
    this.held = new HeldWebSocket(socket, tcp.remoteAddress ?? "", clients.heldBytes, ({ reason }) => {
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
    return this.#socket.isOpen;
  }

  /** Memory of that. */
  get unsentMemory(): number {
    return this.#socket.unsentMemory;
  }

  /** More of it has arrived, or may have, than was carried out. */
  get isBehind(): boolean {
    return this.input.isHeld || this.#socket.arrivingBytes > 0;
  }

  sendText(text: string | Buffer): void {
    if (this.isOpen) this.#socket.send(text, textFrame);
  }

  sendBytes(bytes: Buffer): void {
    if (this.isOpen) this.#socket.send(bytes);
  }

  ping(): void {
    this.isPinged = true;
    if (this.isOpen) this.#socket.ping();
  }

  pong(data: Buffer): void {
    if (this.isOpen) this.#socket.pong(data);
  }

  /** With a close frame; at once where the client has left too much unread to get it. */
  close(code: number, reason: string): void {
    this.why ??= reason;
    this.input.clear();
    this.#socket.close(code, cutReason(reason), this.unsentBytes > 0 ? 0 : lingerMs);
  }

  terminate(reason: string): void {
    this.why ??= reason;
    this.input.clear();
    this.#socket.terminate();
  }
}

const textFrame = { binary: false } as const;

const cutReason = (reason: string): string =>
  Buffer.byteLength(reason) <= mostReasonBytes ? reason : reason.slice(0, mostReasonBytes / 3);

/** The WebSockets of all dialects: handshake, limits and heartbeat, with one timer for all of them. */
export class WebSocketClients {
  readonly #limits: WebSocketLimits;
  readonly #faults: FaultLog;
  readonly #unsent: WebSocketClientsOptions["unsent"];
  /** Of messages that arrive, or wait for their client's turn. */
  readonly heldBytes: SharedBudget;
  readonly sessions: ClientSessions;
  readonly #clients = new Set<WebSocketClient>();
  /** They send too fast. */
  readonly #fast = new Set<WebSocketClient>();
  readonly #timer: NodeJS.Timeout;
  readonly #turns: WorkTurns;
  #nextId = 1;

  constructor({ limits, faults, held, sessions, unsent, turns }: WebSocketClientsOptions) {
    this.#limits = limits;
    this.#unsent = unsent;
    this.#turns = turns;
    this.#faults = faults;
    this.heldBytes = held;
    this.sessions = sessions;
    this.#timer = setInterval(() => this.#tick(), Math.min(tickMs, limits.heartbeatMs / 2));
  }

  /** Calls back with the client before it returns, unless the handshake has failed, or there are too many clients. */
  accept(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    handler: WebSocketHandler,
    onOpen: (client: WebSocketClient) => void,
  ): void {
    const connection = connectionHead(this.#nextId++, socket);
    const work = this.#turns.connection(socket.remoteAddress ?? "");
    const webSocket = acceptWebSocket(request, socket, head, {
      messageBytes: this.#limits.messageBytes,
      work,
      // A pong stands behind what the messages before the ping have caused.
      answersPings: false,
    });
    if (!webSocket) return;
    const client = new WebSocketClient(webSocket, connection, request, handler, this, work);
    this.#clients.add(client);
    webSocket.on("message", (data, isBinary) => this.#received(client, { kind: isBinary ? "bytes" : "text", data }));
    webSocket.on("ping", (data) => this.#received(client, { kind: "ping", data }));
    webSocket.on("pong", () => heard(client));
    webSocket.on("error", (error) => this.#failed(client, error));
    webSocket.on("close", (code) => this.#closed(client, code));
    if (this.sessions.hasRoomFor(socket.remoteAddress ?? "")) {
      this.sessions.add(client, socket.remoteAddress ?? "", () => client.close(closeCode.tryAgain, tooManySessions));
      this.run(client, () => onOpen(client));
    } else {
      this.#faults.closed(connection, tooManySessions);
      client.close(closeCode.tryAgain, tooManySessions);
    }
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

  #received(client: WebSocketClient, message: ReadMessage): void {
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
    // Answers of the connection itself, such as pongs: the hub does not see them.
    if (client.peer instanceof Peer) this.#unsent.look(client.peer);
    else if (client.unsentBytes > this.#limits.unsentBytes) client.close(closeCode.goingAway, "it reads too slowly");
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
  #failed(client: WebSocketClient, error: Error): void {
    client.why ??= error.message;
    this.#faults.closed(client.connection, error.message);
  }

  #closed(client: WebSocketClient, code: number): void {
    this.#clients.delete(client);
    this.sessions.remove(client);
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
  }
}

const tickMs = 1_000;

function heard(client: WebSocketClient): void {
  client.heardAt = performance.now();
  client.isPinged = false;
}

function closeText(code: number): string {
  if (code === closeCode.abnormal) return "the connection was lost";
  return code === closeCode.normal || code === closeCode.goingAway || code === closeCode.noStatus ? "the client left" : `closed ${code}`;
}
