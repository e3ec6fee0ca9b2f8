import type { IncomingMessage } from "node:http";
import type { Socket as NetSocket } from "node:net";
import type { Duplex } from "node:stream";
import { Server as Engine } from "engine.io";
import { Server, type Socket } from "socket.io";
import type { HttpRequest, HttpResponse } from "../../../core/http/http-route.ts";
import { acceptWebSocket } from "../../../core/http/websocket/accept-web-socket.ts";
import { HeldWebSocket } from "../../../core/http/websocket/held-web-socket.ts";
import type { ServerWebSocket } from "../../../core/http/websocket/server-web-socket.ts";
import { isDeeper } from "../../../core/limits/json-limits.ts";
import type { SharedBudget } from "../../../core/limits/shared-budget.ts";
import { connectionHead } from "../../../core/net/client-socket.ts";
import type { FaultLog } from "../../../core/net/fault-log.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";
import type { ClientMessage, Hub } from "../../signalling/hub.ts";
import type { Peer } from "../../signalling/peer.ts";
import { tooManyPeers } from "../../signalling/peers.ts";
import { defaultRoom } from "../../signalling/room.ts";
import type { Refusal } from "../../signalling/signalling-event.ts";
import type { WebRoutes } from "../../web/web-routes.ts";
import { type ClientSessions, tooManySessions } from "../client-sessions.ts";
import { isObject, isOptionalText, isText, type JsonObject } from "../json-value.ts";
import { redactedStart } from "../redacted-start.ts";
import { clientFileRoutes } from "./client-files.ts";
import { createPacketEncoder } from "./encode-packet.ts";
import { takeInTurns } from "./polling-input.ts";
import { SocketIoConnection } from "./socketio-connection.ts";
import { SocketIoLink } from "./socketio-link.ts";
import { signalOfSocketIo } from "./socketio-signal.ts";

export interface SocketIoDialectOptions {
  readonly hub: Hub;
  readonly faults: FaultLog;
  readonly held: SharedBudget;
  /** Of all clients. */
  readonly turns: WorkTurns;
  /** Of all dialects. */
  readonly sessions: ClientSessions;
  readonly limits: {
    readonly messageBytes: number;
    readonly messageDepth: number;
    readonly messagesPerSecond: number;
    readonly unsentBytes: number;
    readonly heartbeatMs: number;
    readonly recordCredentials: boolean;
  };
}

const path = "/socket.io";
const tickMs = 1_000;
const pollingCloseMs = 500;

type Acknowledge = ((answer: object) => void) & {
  /** Of the event. */
  readonly id: number;
};

/** Socket.IO v4 at /socket.io over WebSocket and long polling: docs/webrtc-signalling.md has the events. */
export function socketIoDialect({
  hub,
  faults,
  held,
  turns,
  sessions,
  limits,
}: SocketIoDialectOptions): WebRoutes & { close(): Promise<void> } {
  const engine = new Engine({
    pingInterval: limits.heartbeatMs,
    pingTimeout: limits.heartbeatMs,
    maxHttpBufferSize: limits.messageBytes,
    perMessageDeflate: false,
    httpCompression: false,
    wsEngine: serverFor(held, turns),
    allowRequest({ socket, _query }: IncomingMessage & { readonly _query?: { readonly j?: string } }, decide) {
      // JSONP is for browsers without CORS: a script of any page would open sessions, for which no Origin is sent.
      if (_query?.j !== undefined) {
        decide("JSONP is not spoken here", false);
        return;
      }
      // Not for a session that goes on over WebSocket.
      const hasRoom = sessions.hasRoomFor(socket.remoteAddress ?? "");
      decide(hasRoom ? undefined : tooManySessions, hasRoom);
    },
  });
  // Its own routes would need its own HTTP server.
  const io = new Server({ serveClient: false });
  const encode = createPacketEncoder();
  io.bind(engine);
  let opened = 0;
  const connections = new Map<Socket["conn"], SocketIoConnection>();
  const timer = setInterval(() => {
    for (const connection of connections.values()) connection.tick();
  }, tickMs);

  engine.on(
    "connection_error",
    ({ req, message, context }: { req: { socket: { remoteAddress?: string } }; message: string; context?: JsonObject }) => {
      const reason = context?.name ?? context?.message;
      const more = typeof reason === "string" ? ` (${reason})` : "";
      faults.write(`A Socket.IO client at ${req.socket.remoteAddress} was refused: ${message}${more}.`);
    },
  );
  // Broken packets end the connection; socket.io tells of them here alone.
  engine.on("connection", (connection: Socket["conn"]) => {
    // At once: a client that polls comes back on another connection, and the first one has no addresses any more.
    const head = connectionHead(++opened, connection.request.socket);
    const work = turns.connection(connection.remoteAddress);
    const client = new SocketIoConnection(connection, work, head, limits, faults);
    connections.set(connection, client);
    if ("closeTimeout" in connection.transport) {
      // Of a client that does not poll at the moment; half a minute by itself, during which a stop would wait.
      connection.transport.closeTimeout = pollingCloseMs;
      sessions.addPolling(connection, connection.remoteAddress);
      takeInTurns(connection, {
        work,
        mostPackets: limits.messagesPerSecond,
        mostWaiting: 2 * limits.messageBytes,
        onFlood: () => client.floods(),
      });
    } else sessions.add(connection, connection.remoteAddress, () => connection.close(true));
    connection.on("close", (reason: string) => {
      // What waits is carried out before its client is gone.
      connections.get(connection)?.tick();
      connections.delete(connection);
      sessions.remove(connection);
      if (reason === "parse error" || reason === "forced server close") faults.write(`A Socket.IO client was disconnected: ${reason}.`);
    });
  });
  io.on("connection", (socket) => {
    const connection = connections.get(socket.conn);
    if (!connection) {
      socket.disconnect(true);
      return;
    }
    guard(socket, connection, () => accept(socket, connection));
  });

  /** A fault in the work for one client ends its connection alone. */
  function guard(socket: Socket, { head }: SocketIoConnection, work: () => void): void {
    try {
      work();
    } catch (error) {
      faults.failed(head, error);
      socket.disconnect(true);
    }
  }

  function accept(socket: Socket, connection: SocketIoConnection): void {
    numberAcknowledgements(socket);
    const { headers } = socket.request;
    const client = new SocketIoClient(hub, socket, new SocketIoLink(socket, connection, encode), limits);
    const peer = hub.connect(
      {
        dialect: "socketio",
        link: client.link,
        connection: connection.head,
        userAgent: (headers["user-agent"] ?? "").slice(0, 300),
        origin: headers.origin?.slice(0, 300),
      },
      socket.id,
    );
    if (!peer) {
      socket.emit("error", { code: "too-many-peers", message: tooManyPeers, re: null });
      socket.disconnect(true);
      return;
    }
    const { input } = connection;
    socket.once("disconnect", (reason) =>
      input.end(() => guard(socket, connection, () => hub.disconnect(peer, endText(reason), "client"))),
    );
    socket.onAny((event: unknown, ...values: unknown[]) =>
      input.receive(() => guard(socket, connection, () => client.receive(peer, event, values))),
    );
    client.open(peer);
  }

  return {
    http: [
      ...clientFileRoutes(path),
      {
        path: `${path}{/*rest}`,
        methods: ["GET", "POST"],
        handle(request, response) {
          engine.handleRequest(request as never, response);
          tellEngineOfEnd(request, response);
          // Read by the engine, which keeps it until it is whole.
          if (request.method !== "POST") return;
          request.on("data", ({ length }: string | Buffer) => request.entry?.head.connection.held?.hold(request, length));
        },
      },
    ],
    upgrades: [{ path: `${path}/`, handle: (request, socket, head) => engine.handleUpgrade(request as never, socket, head) }],
    async close() {
      clearInterval(timer);
      await io.close();
    },
  };
}

/** The engine hears of the end of a connection by its requests. One without a body is closed from its beginning here, and tells of nothing by itself. */
function tellEngineOfEnd(request: HttpRequest, response: HttpResponse): void {
  if (!request.closed) return;
  if (request.method === "POST") request.emit("end");
  response.once("close", () => {
    if (!response.writableFinished) request.emit("close");
  });
}

/** What the engine takes for the server of ws. */
const serverFor = (held: SharedBudget, turns: WorkTurns) =>
  class {
    readonly #messageBytes: number;

    constructor({ maxPayload }: { readonly maxPayload: number }) {
      this.#messageBytes = maxPayload;
    }

    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onOpen: (opened: ServerWebSocket) => void): void {
      const address = request.socket.remoteAddress ?? "";
      const opened = acceptWebSocket(request, socket as NetSocket, head, {
        messageBytes: this.#messageBytes,
        work: turns.connection(address),
      });
      if (!opened) return;
      new HeldWebSocket(opened, address, held);
      onOpen(opened);
    }

    /** Of the engine's own, which closes its clients before. */
    close(): void {}
  };

/** Without a public name in Socket.IO, which would write the members of a room anew for each answer. */
function numberAcknowledgements(socket: Socket): void {
  const own = socket as unknown as { ack(id: number): (answer: object) => void };
  const ack = own.ack.bind(socket);
  own.ack = (id) => Object.assign(ack(id), { id });
}

/** A connected client, and what it asks for. */
class SocketIoClient {
  readonly link: SocketIoLink;
  readonly #hub: Hub;
  readonly #socket: Socket;
  readonly #limits: SocketIoDialectOptions["limits"];
  /** It has named no room so far. */
  #isInDefaultRoom = false;

  constructor(hub: Hub, socket: Socket, link: SocketIoLink, limits: SocketIoDialectOptions["limits"]) {
    this.#hub = hub;
    this.#socket = socket;
    this.#limits = limits;
    this.link = link;
  }

  open(peer: Peer): void {
    const { auth, query } = this.#socket.handshake;
    const { messageDepth } = this.#limits;
    if (isDeeper(auth, messageDepth)) {
      const message = `What it connects with is deeper than ${messageDepth} levels`;
      this.#refuse(peer, { code: "bad-message", message }, { raw: "auth", re: "join" }, undefined);
      return;
    }
    const named = isObject(auth) && isText(auth.room) ? auth : query;
    if (isText(named.room)) this.#join(peer, named, undefined);
    else this.#isInDefaultRoom = this.#hub.join(peer, { room: defaultRoom, isImplicit: true }, messageOf("join", { room: defaultRoom }));
  }

  receive(peer: Peer, event: unknown, values: readonly unknown[]): void {
    if (!peer.isConnected) return;
    const { messageDepth } = this.#limits;
    const last = values.at(-1);
    const acknowledge = typeof last === "function" ? (last as Acknowledge) : undefined;
    // The protocol also has numbers as names.
    if (typeof event !== "string") {
      this.#refuse(peer, { code: "bad-message", message: "The name of an event is a text" }, { raw: String(event) }, acknowledge);
      return;
    }
    const [data] = values;
    if (isDeeper(data, messageDepth) || holdsBytes(data)) {
      const message = `The message holds bytes, or is deeper than ${messageDepth} levels`;
      this.#refuse(peer, { code: "bad-message", message }, { raw: event, re: event.slice(0, 40) }, acknowledge);
      return;
    }
    const as = messageOf(event, data, this.#limits.recordCredentials);
    if (!isObject(data)) this.#refuse(peer, { code: "bad-message", message: "The event has an object" }, as, acknowledge);
    else this.#carryOut(peer, event, data, as, acknowledge);
  }

  #carryOut(peer: Peer, event: string, data: JsonObject, as: ClientMessage, acknowledge: Acknowledge | undefined): void {
    const { room, to, text } = data;
    const wrong = (what: string) => this.#refuse(peer, { code: "bad-message", message: `${event} needs ${what}` }, as, acknowledge);
    switch (event) {
      case "signal":
        if (!isOptionalText(to)) {
          wrong("to as the id of a client, where it has one");
          return;
        }
        this.#answer(peer, this.#hub.signal(peer, { to: to || undefined, signal: signalOfSocketIo(data) }, as), {}, acknowledge);
        return;
      case "join":
        this.#join(peer, data, acknowledge);
        return;
      case "leave":
        if (!isText(room)) {
          wrong("room, a text that is not empty");
          return;
        }
        this.#answer(peer, this.#hub.leave(peer, room, as), { room }, acknowledge);
        return;
      case "chat": {
        if (!isText(text)) {
          wrong("text, which is not empty");
          return;
        }
        if (isText(to)) {
          this.#answer(peer, this.#hub.sayTo(peer, to, text, as), {}, acknowledge);
          return;
        }
        const said = isText(room) ? room : (peer.rooms[0]?.name ?? "");
        this.#answer(peer, this.#hub.say(peer, said, text, as), {}, acknowledge);
        return;
      }
      default: {
        this.#refuse(peer, { code: "unknown-type", message: `There is no event ${JSON.stringify(event.slice(0, 40))}` }, as, acknowledge);
        return;
      }
    }
  }

  /** The first room that a client names takes the place of the default one. */
  #join(peer: Peer, { room, name, password }: JsonObject, acknowledge: Acknowledge | undefined): void {
    const as = messageOf("join", { room, name, password }, this.#limits.recordCredentials);
    if (!isText(room) || !isOptionalText(name) || !isOptionalText(password)) {
      const message = "join needs room, and name and password as texts where it has them";
      this.#refuse(peer, { code: "bad-message", message }, as, acknowledge);
      return;
    }
    this.link.acknowledgesJoin = acknowledge?.id;
    const hasJoined = this.#hub.join(peer, { room, name: name ?? undefined, password: password || undefined }, as);
    if (!hasJoined) {
      this.link.acknowledgesJoin = undefined;
      this.#answer(peer, false, {}, acknowledge);
    }
    if (!hasJoined || !this.#isInDefaultRoom || room === defaultRoom) return;
    this.#isInDefaultRoom = false;
    this.#hub.leave(peer, defaultRoom, messageOf("leave", { room: defaultRoom }));
  }

  #answer(peer: Peer, isDone: boolean, answer: object, acknowledge: Acknowledge | undefined): void {
    if (acknowledge) this.#hub.unsent.watch(peer, () => acknowledge(isDone ? answer : { error: this.link.takeRefusal() }));
  }

  #refuse(peer: Peer, refusal: Refusal, as: ClientMessage, acknowledge: Acknowledge | undefined): void {
    this.#hub.refuse(peer, refusal, as);
    if (acknowledge) this.#hub.unsent.watch(peer, () => acknowledge({ error: refusal }));
  }
}

/** For the record. */
function messageOf(event: string, data: unknown, withPassword = false): ClientMessage {
  const text = JSON.stringify([event, data]);
  const hides = !withPassword && isObject(data) && data.password !== undefined;
  const raw = hides ? redactedStart(text, (name) => name === "password") : text;
  return { raw, re: event.slice(0, 40) };
}

/** Binary attachments: where JSON is due there are none. Called for values of bounded depth. */
function holdsBytes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || Object.values(value).some(holdsBytes);
}

function endText(reason: string): string {
  if (reason === "client namespace disconnect" || reason === "transport close") return "the client left";
  return reason === "ping timeout" ? "no answer to a ping" : reason;
}
