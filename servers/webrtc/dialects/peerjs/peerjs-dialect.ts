import { randomUUID } from "node:crypto";
import type { IceServer } from "../../../../contract/services/webrtc.ts";
import type { HttpRequest, HttpResponse, HttpRoute } from "../../../core/http/http-route.ts";
import { jsonType, send } from "../../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../../core/http/messages/http-refusal.ts";
import { closeCode } from "../../../core/http/websocket/close-code.ts";
import { isDeeper } from "../../../core/limits/json-limits.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";
import type { ClientMessage, Hub } from "../../signalling/hub.ts";
import { Peer, type PeerLink, remoteHostOf } from "../../signalling/peer.ts";
import { defaultRoom } from "../../signalling/room.ts";
import { hasControls, type JoinRequest } from "../../signalling/room-access.ts";
import type { PeerEvent } from "../../signalling/signalling-event.ts";
import type { WebRoutes } from "../../web/web-routes.ts";
import { jsonOf } from "../json-value.ts";
import type { WebSocketClient, WebSocketClients, WebSocketHandler } from "../web-socket-clients.ts";
import { OfflineQueue } from "./offline-queue.ts";
import { PeerJsConnections, type PeerJsMessage, parsePeerJsMessage, signalOfPeerJs } from "./peerjs-message.ts";

export interface PeerJsDialectOptions {
  readonly hub: Hub;
  readonly webSockets: WebSocketClients;
  /** Of all clients. */
  readonly turns: WorkTurns;
  readonly messageDepth: number;
  readonly recordCredentials: boolean;
  /** Characters of an id. */
  readonly nameLength: number;
  /** How long messages wait for a client that is not connected, and how many of all clients. */
  readonly offlineMs: number;
  readonly offlineMessages: number;
  readonly offlineBytes: number;
}

/** The key of a client that was given none: it is in the default room. */
const standardKey = "peerjs";
/** Connections to clients of other dialects that are remembered for each client. */
const mostConnections = 1_000;
const joinedAs = "key";
/** Paths of the service that look like those of a key, also where WHEP and WHIP are switched off. */
const otherPaths: ReadonlySet<string> = new Set(["whep", "whip"]);

/** The protocol of PeerJS clients: a WebSocket at /peerjs, and identifiers over HTTP. A client's key names its room. */
export function peerJsDialect(options: PeerJsDialectOptions): WebRoutes & { close(): void } {
  const { hub, webSockets, turns, messageDepth, nameLength } = options;
  const offline = new OfflineQueue({
    holdMs: options.offlineMs,
    messages: options.offlineMessages,
    bytes: options.offlineBytes,
    onExpired({ dst, src, text, isLast }) {
      const sender = clientOf(src);
      if (!sender) return;
      const { message, as } = waitingMessage(text);
      hub.refuse(sender.peer, { code: "peer-unknown", message: `${dst} has not connected in time` }, as, signalOfPeerJs(message).kind);
      // One for each sender.
      if (isLast) sender.link.send({ type: "EXPIRE", src: dst, dst: src });
    },
  });
  hub.appeared.add(deliverWaiting);

  function clientOf(id: string): PeerJsClient | undefined {
    const link = hub.find(id)?.facts.link;
    return link instanceof PeerJsLink ? link.owner : undefined;
  }

  /** Also a client of another instance, or of another dialect. In turns: ten thousand may wait, for thousands of clients. */
  function deliverWaiting(peer: Peer): void {
    if (offline.has(peer.id)) void turns.connection(remoteHostOf(peer)).run(waitingFor(peer));
  }

  function* waitingFor(peer: Peer): Generator<void, void> {
    for (let waiting = offline.take(peer.id); waiting; waiting = peer.isConnected ? offline.take(peer.id) : undefined) {
      const { src, text } = waiting;
      const sender = clientOf(src);
      if (sender)
        webSockets.run(sender.link.client, () => {
          const { message, as } = waitingMessage(text);
          pass(sender, peer.id, message, as);
        });
      yield;
    }
  }

  function open(client: WebSocketClient, query: URLSearchParams): void {
    const [id, token, key] = [query.get("id"), query.get("token"), query.get("key")];
    if (!id || !token || !key) {
      refuse(client, "ERROR", "No id, token, or key supplied to websocket server");
      return;
    }
    if (id.length > nameLength || token.length > nameLength) {
      refuse(client, "ERROR", `An id or token has at most ${nameLength} characters`);
      return;
    }
    if (hasControls(id)) {
      refuse(client, "ERROR", "An id has no control characters");
      return;
    }
    const known = clientOf(id);
    // Its former connection is about to be found dead.
    if (known?.token === token) hub.disconnect(known.peer, "the client connected again", "client");
    if (hub.isTaken(id)) {
      refuse(client, "ID-TAKEN", "ID is taken");
      return;
    }
    const link = new PeerJsLink(client);
    const { connection, userAgent, origin } = client;
    const peer = hub.connect({ dialect: "peerjs", link, connection, userAgent, origin }, id);
    if (!peer) {
      refuse(client, "ERROR", "Server has reached its concurrent user limit");
      return;
    }
    client.peer = peer;
    link.owner = { peer, token, link };
    const asked = roomOf(key);
    const raw = JSON.stringify({ id, key: options.recordCredentials ? key : asked.room });
    const joined = hub.join(peer, asked, { raw, re: joinedAs });
    if (joined) deliverWaiting(peer);
    else hub.disconnect(peer, "its key was refused", "server");
  }

  function receive(client: WebSocketClient, bytes: Buffer): void {
    const owner = client.peer instanceof Peer ? clientOf(client.peer.id) : undefined;
    if (!owner) return;
    const value = jsonOf(bytes.toString());
    const message = parsePeerJsMessage(value);
    const as: ClientMessage = { raw: bytes, re: "type" in message ? message.type : undefined };
    if ("problem" in message) {
      hub.refuse(owner.peer, { code: "bad-message", message: message.problem }, as);
      return;
    }
    if (message.type === "HEARTBEAT") return;
    if (isDeeper(value, messageDepth)) {
      hub.refuse(owner.peer, { code: "bad-message", message: `The message is deeper than ${messageDepth} levels` }, as);
      return;
    }
    const { dst, type } = message;
    if (dst) {
      const isHere = hub.find(dst) !== undefined;
      if (isHere && !offline.has(dst)) pass(owner, dst, message, as);
      // Nobody is told that a client which is not there was left.
      else if (!isHere && (type === "LEAVE" || type === "EXPIRE")) hub.note(owner.peer, "other", as);
      else offline.add(dst, owner.peer.id, bytes, remoteHostOf(owner.peer));
    } else if (type === "LEAVE") hub.disconnect(owner.peer, "the client left", "client");
    else hub.refuse(owner.peer, { code: "bad-message", message: `${type} needs dst, the id of a peer` }, as);
  }

  function pass({ peer, link }: PeerJsClient, dst: string, message: PeerJsMessage, as: ClientMessage): void {
    link.connections.note(dst, message);
    hub.signal(peer, { to: dst, signal: signalOfPeerJs(message) }, as);
  }

  const handler: WebSocketHandler = {
    onText: receive,
    onClosed(client, reason) {
      if (client.peer instanceof Peer) hub.disconnect(client.peer, reason, "client");
    },
  };
  const upgradeAt = (path: string) => ({
    path,
    handle(request: HttpRequest, socket: Parameters<WebSocketClients["accept"]>[1], head: Buffer) {
      const query = queryOf(request);
      webSockets.accept(request, socket, head, handler, (client) => open(client, query));
    },
  });

  async function listPeers(request: HttpRequest, response: HttpResponse): Promise<void> {
    const room = hub.findRoom(roomOf(keyOf(request)).room);
    // The client says of this status that it may not list peers.
    if (room?.password) throw new HttpRefusal(401, "The peers of a room with a password are not listed");
    const list = await request.work.run(listOf([...(room?.members.keys() ?? [])]));
    send(response, 200, jsonType, list);
  }

  const giveId = (_request: HttpRequest, response: HttpResponse) => send(response, 200, "text/plain; charset=utf-8", randomUUID());
  const ofKey =
    (answer: HttpRoute["handle"]): HttpRoute["handle"] =>
    (request, response) => {
      if (otherPaths.has(keyOf(request))) throw new HttpRefusal(404, "There is nothing here");
      return answer(request, response);
    };
  const routesAt = (base: string): readonly HttpRoute[] => [
    { path: `${base}/id`, methods: ["GET"], handle: ofKey(giveId) },
    { path: `${base}/peers`, methods: ["GET"], handle: ofKey(listPeers) },
  ];

  return {
    // The client puts its key behind its path, "/" or as it is set.
    http: [...routesAt("/peerjs"), ...routesAt("/peerjs/:key"), ...routesAt("/:key")],
    upgrades: [upgradeAt("/peerjs"), upgradeAt("/peerjs/peerjs")],
    close() {
      hub.appeared.delete(deliverWaiting);
      offline.close();
    },
  };
}

/** Of identifiers, which clients have chosen. */
const idsOfStep = 50;

/** As JSON, in steps: a room may have thousands of members. */
export function* listOf(ids: readonly string[]): Generator<void, string> {
  const parts: string[] = [];
  for (let at = 0; at < ids.length; at += idsOfStep) {
    parts.push(JSON.stringify(ids.slice(at, at + idsOfStep)).slice(1, -1));
    yield;
  }
  return `[${parts.join(",")}]`;
}

interface PeerJsClient {
  readonly peer: Peer;
  readonly token: string;
  readonly link: PeerJsLink;
}

class PeerJsLink implements PeerLink {
  owner: PeerJsClient | undefined;
  readonly connections = new PeerJsConnections(mostConnections);
  sentBytes = 0;
  readonly client: WebSocketClient;
  /** They come before it is in its room. */
  #iceServers: readonly IceServer[] = [];

  constructor(client: WebSocketClient) {
    this.client = client;
  }

  get unsentBytes(): number {
    return this.client.unsentBytes;
  }

  get unsentMemory(): number {
    return this.client.unsentMemory;
  }

  send(message: object): void {
    const bytes = Buffer.from(JSON.stringify(message));
    this.sentBytes += bytes.length;
    this.client.sendText(bytes);
  }

  deliver(event: PeerEvent): void {
    switch (event.type) {
      case "welcome":
        this.#iceServers = event.iceServers;
        return;
      // Its clients do not read the payload of OPEN.
      case "joined":
        this.send({ type: "OPEN", payload: { iceServers: this.#iceServers } });
        return;
      case "signal": {
        const { from, signal } = event;
        const message = signal.dialect === "peerjs" ? (signal.payload as PeerJsMessage) : this.connections.translate(from, signal);
        if (message) this.send({ ...message, src: from, ...(this.owner && { dst: this.owner.peer.id }) });
        return;
      }
      case "peer-left":
        this.connections.forget(event.id);
        return;
      case "error":
        // A message that has expired is told as such.
        if (event.code !== "peer-unknown")
          this.send({ type: event.re === joinedAs ? "INVALID-KEY" : "ERROR", payload: { msg: event.message } });
        return;
      case "peer-joined":
      case "chat":
        return;
      default:
        event satisfies never;
    }
  }

  hold(): void {
    this.client.input.hold();
  }

  release(): void {
    this.client.input.release();
  }

  close(reason: string): void {
    this.client.close(closeCode.goingAway, reason);
  }
}

function refuse(client: WebSocketClient, type: "ERROR" | "ID-TAKEN", msg: string): void {
  client.sendText(JSON.stringify({ type, payload: { msg } }));
  client.close(closeCode.policy, msg);
}

/** "peerjs" is the default room, another key a room of its own; its password may follow after a colon. */
function roomOf(key: string): JoinRequest {
  const [, name = "", password] = /^([^:]*)(?::(.*))?$/s.exec(key) ?? [];
  const isImplicit = name === standardKey || name === "";
  return { room: isImplicit ? defaultRoom : name, isImplicit, password: password || undefined };
}

/** It was read before it began to wait: it is kept as text, whose size is known. */
function waitingMessage(text: Buffer): { readonly message: PeerJsMessage; readonly as: ClientMessage } {
  const message = jsonOf(text.toString()) as PeerJsMessage;
  return { message, as: { raw: text, re: message.type } };
}

const queryOf = ({ url = "" }: HttpRequest): URLSearchParams => new URLSearchParams(url.slice(url.indexOf("?") + 1));
const keyOf = ({ params }: HttpRequest): string => (typeof params.key === "string" ? params.key : standardKey);
