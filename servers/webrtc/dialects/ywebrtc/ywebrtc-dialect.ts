import { closeCode } from "../../../core/http/websocket/close-code.ts";
import { isDeeper } from "../../../core/limits/json-limits.ts";
import type { ClientMessage, Hub } from "../../signalling/hub.ts";
import { Peer, type PeerLink } from "../../signalling/peer.ts";
import { tooManyPeers } from "../../signalling/peers.ts";
import type { Room } from "../../signalling/room.ts";
import type { PeerEvent, Signal } from "../../signalling/signalling-event.ts";
import type { UpgradeRoute, WebRoutes } from "../../web/web-routes.ts";
import { isObject, type JsonObject, jsonOf } from "../json-value.ts";
import type { WebSocketClient, WebSocketClients, WebSocketHandler } from "../web-socket-clients.ts";
import {
  createPublishEncoder,
  dataOf,
  type EncodePublish,
  parseYWebrtcMessage,
  signalOfYWebrtc,
  type YWebrtcData,
  type YWebrtcRequest,
  type YWebrtcTopics,
  yWebrtcData,
} from "./ywebrtc-message.ts";

/** A client announces itself right after it has subscribed, in packets of their own. */
const joinWaitMs = 50;

export interface YWebrtcDialectOptions {
  readonly hub: Hub;
  readonly webSockets: WebSocketClients;
  readonly messageDepth: number;
  /** Rooms that a peer may be in: no message names more topics. */
  readonly peerRooms: number;
  /** Characters of the name of a topic, and of the id that a client chooses. */
  readonly nameLength: number;
}

/** The protocol of y-webrtc's signalling servers at /y-webrtc, and at / as they have it. A topic is a room. */
export function yWebrtcDialect({ hub, webSockets, messageDepth, peerRooms, nameLength }: YWebrtcDialectOptions): WebRoutes {
  const encode = createPublishEncoder();

  function receive(client: WebSocketClient, bytes: Buffer): void {
    const { peer } = client;
    if (!(peer instanceof Peer && peer.facts.link instanceof YWebrtcLink)) return;
    const value = jsonOf(bytes.toString());
    const as: ClientMessage = { raw: bytes, re: isObject(value) && typeof value.type === "string" ? value.type.slice(0, 40) : undefined };
    if (isDeeper(value, messageDepth)) {
      hub.refuse(peer, { code: "bad-message", message: `The message is deeper than ${messageDepth} levels` }, as);
      return;
    }
    const request = parseYWebrtcMessage(value);
    if ("problem" in request) {
      hub.refuse(peer, { code: "bad-message", message: request.problem }, as);
      return;
    }
    const { link } = peer.facts;
    // A client with several documents announces itself in one after the other.
    const room = request.type === "publish" ? request.topic : undefined;
    const subscribed = room === undefined ? undefined : link.subscribed.take(room);
    if (room !== undefined && subscribed) hub.join(peer, { room }, subscribed);
    if (subscribed || link.subscribed.isEmpty) carryOut(client, peer, link, request, as);
    else joinSubscribed(client, peer, link, () => carryOut(client, peer, link, request, as));
  }

  function carryOut(client: WebSocketClient, peer: Peer, link: YWebrtcLink, request: YWebrtcRequest, as: ClientMessage): void {
    switch (request.type) {
      case "ping":
        link.send({ type: "pong" });
        return;
      case "subscribe":
        // Together with its announcement: two that connect at once call one another if both are in before either has announced itself.
        link.subscribed.add(taken(request, peer, as));
        joinLater(client, peer, link);
        return;
      case "unsubscribe":
        inTurns(client, peer, taken(request, peer, as), (topic, part) => void hub.leave(peer, topic, part));
        return;
      case "publish":
        publish(peer, link, request.topic, request.message, as);
        return;
      default:
        request satisfies never;
    }
  }

  /** What it has sent meanwhile, such as its announcement, comes first, in its order. */
  function joinLater(client: WebSocketClient, peer: Peer, link: YWebrtcLink): void {
    link.subscribed.wait(() =>
      client.work.wait(joinWaitMs, () => {
        if (client.isBehind) joinLater(client, peer, link);
        else webSockets.run(client, () => joinSubscribed(client, peer, link));
      }),
    );
  }

  function joinSubscribed(client: WebSocketClient, peer: Peer, link: YWebrtcLink, then?: () => void): void {
    inTurns(client, peer, link.subscribed.takeAll(), (topic, part) => void hub.join(peer, { room: topic }, part), then);
  }

  /**
   * Each topic once, with its part of the message: of a message with many topics each would be recorded with all of them. Those beyond the
   * limit of a peer are refused together: a message may name tens of thousands.
   */
  function taken({ type, topics }: YWebrtcTopics, peer: Peer, as: ClientMessage): readonly NamedTopic[] {
    const named = new Set<string>();
    for (const topic of topics) {
      if (named.size === peerRooms && !named.has(topic)) {
        hub.refuse(peer, { code: "too-many-rooms", message: `Of ${topics.length} topics the first ${peerRooms} count` }, as);
        break;
      }
      named.add(topic);
    }
    const partOf = (topic: string): ClientMessage => ({ ...as, raw: JSON.stringify({ type, topics: [topic] }) });
    return [...named].map((topic) => [topic, named.size === 1 ? as : partOf(topic)]);
  }

  /** A topic in each turn of the event loop: of each the client may be told all who are in it. */
  function inTurns(
    client: WebSocketClient,
    peer: Peer,
    [next, ...others]: readonly NamedTopic[],
    act: (...named: NamedTopic) => void,
    then?: () => void,
  ): void {
    if (next && peer.isConnected) act(...next);
    if (others.length > 0 && peer.isConnected) webSockets.goOn(client, () => inTurns(client, peer, others, act, then));
    else then?.();
  }

  function publish(peer: Peer, link: YWebrtcLink, topic: string, message: JsonObject, as: ClientMessage): void {
    const data = dataOf(message);
    if (data) link.learn(topic, data.from, peer.id);
    const signal = signalOfYWebrtc(message);
    const to = data?.to === undefined ? undefined : link.peerKnownAs(topic, data.to);
    const common = { room: topic, isEchoed: true };
    if (to !== undefined && hub.find(to)) hub.signal(peer, { ...common, to, signal }, as);
    // A message to one client that the service cannot tell from the others: only clients of y-webrtc find out whom it is for.
    else hub.signal(peer, { ...common, signal: { kind: "other", dialect: "ywebrtc", payload: signal.payload } }, as);
  }

  const handler: WebSocketHandler = {
    onText: receive,
    onClosed(client, reason) {
      const { peer } = client;
      if (!(peer instanceof Peer && peer.facts.link instanceof YWebrtcLink)) return;
      joinSubscribed(client, peer, peer.facts.link, () => hub.disconnect(peer, reason, "client"));
    },
  };
  const upgradeAt = (path: string): UpgradeRoute => ({
    path,
    handle(request, socket, head) {
      webSockets.accept(request, socket, head, handler, (client) => {
        const { connection, userAgent, origin } = client;
        client.peer = hub.connect({
          dialect: "ywebrtc",
          link: new YWebrtcLink(client, { hub, encode, nameLength }),
          connection,
          userAgent,
          origin,
        });
        if (!client.peer) client.close(closeCode.tryAgain, tooManyPeers);
      });
    },
  });
  return { upgrades: [upgradeAt("/y-webrtc"), upgradeAt("/")] };
}

type NamedTopic = readonly [topic: string, part: ClientMessage];

/** Topics that a client has subscribed to, and is in when it says something on them, or anything else, or a moment has passed. */
class SubscribedTopics {
  readonly #topics = new Map<string, ClientMessage>();
  #endWait = (): void => {};

  get isEmpty(): boolean {
    return this.#topics.size === 0;
  }

  add(topics: readonly NamedTopic[]): void {
    for (const [topic, part] of topics) this.#topics.set(topic, part);
  }

  /** `begin` calls for them later; it returns the function that ends the wait. */
  wait(begin: () => () => void): void {
    if (!this.isEmpty) this.#endWait = begin();
  }

  take(topic: string): ClientMessage | undefined {
    const part = this.#topics.get(topic);
    this.#topics.delete(topic);
    if (this.isEmpty) this.#endWait();
    return part;
  }

  takeAll(): readonly NamedTopic[] {
    const topics = [...this.#topics];
    this.#topics.clear();
    this.#endWait();
    return topics;
  }
}

/**
 * A connection of a client, which serves all of its documents. For each topic the client chooses an id of its own, which the service learns from
 * what it publishes; clients of other dialects are announced to it by their identifiers.
 */
class YWebrtcLink implements PeerLink {
  sentBytes = 0;
  readonly subscribed = new SubscribedTopics();
  readonly #client: WebSocketClient;
  readonly #hub: Hub;
  readonly #encode: EncodePublish;
  readonly #longestId: number;

  constructor(
    client: WebSocketClient,
    { hub, encode, nameLength }: { readonly hub: Hub; readonly encode: EncodePublish; readonly nameLength: number },
  ) {
    this.#client = client;
    this.#hub = hub;
    this.#encode = encode;
    this.#longestId = nameLength;
  }

  get unsentBytes(): number {
    return this.#client.unsentBytes;
  }

  get unsentMemory(): number {
    return this.#client.unsentMemory;
  }

  /** A peer calls itself so in a topic in which this client is, too. */
  learn(topic: string, id: string, peer: string): void {
    const room = this.#roomOf(topic);
    if (room?.members.has(peer) && id.length <= this.#longestId) room.aliases.set(id, peer);
  }

  /**
   * The identifier of the peer that calls itself so in this topic, if it is the only one; those of other dialects are announced by theirs, which
   * nobody else can take.
   */
  peerKnownAs(topic: string, id: string): string | undefined {
    const room = this.#roomOf(topic);
    return room?.members.has(id) ? id : room?.aliases.peerOf(id);
  }

  send(message: object): void {
    this.#sendBytes(Buffer.from(JSON.stringify(message)));
  }

  #sendBytes(bytes: Buffer): void {
    this.sentBytes += bytes.length;
    this.#client.sendText(bytes);
  }

  publish(topic: string, message: JsonObject): void {
    this.#sendBytes(this.#encode(message, this.#hub.findRoom(topic)?.countOf("ywebrtc") ?? 0));
  }

  deliver(event: PeerEvent): void {
    switch (event.type) {
      case "joined":
        for (const { id } of event.peers) this.#announce(event.room, id);
        return;
      case "peer-joined":
        this.#announce(event.room, event.id);
        return;
      case "signal":
        if (event.signal.dialect === "ywebrtc") this.#passOn(event.from, event.signal.payload as JsonObject);
        else this.#translate(event.from, event.room ?? this.#roomWith(event.from), event.signal);
        return;
      case "error":
        this.send({ type: "error", code: event.code, message: event.message, re: event.re ?? null });
        return;
      // Its clients pass over types that they do not know.
      case "welcome":
        this.send(event);
        return;
      case "peer-left":
      case "chat":
        return;
      default:
        event satisfies never;
    }
  }

  #passOn(from: string, message: JsonObject): void {
    const topic = message.topic as string;
    const data = dataOf(message);
    // Of one that is connected to another instance it is told here alone.
    if (data) this.learn(topic, data.from, from);
    this.publish(topic, message);
  }

  #translate(from: string, topic: string | undefined, signal: Signal): void {
    const ownId = topic === undefined ? undefined : this.#roomOf(topic)?.aliases.of(this.#id);
    // It encrypts its messages: nobody else can reach it.
    if (topic === undefined || ownId === undefined) return;
    const data = yWebrtcData(from, ownId, signal);
    if (data) this.publish(topic, messageWith(topic, data));
  }

  /** The client calls a peer of another dialect when it hears of it. */
  #announce(topic: string, id: string): void {
    if (this.#hub.find(id)?.dialect === "ywebrtc") return;
    this.publish(topic, messageWith(topic, { type: "announce", from: id }));
  }

  get #id(): string {
    return this.#client.peer instanceof Peer ? this.#client.peer.id : "";
  }

  /** Where this client is in it. */
  #roomOf(topic: string): Room | undefined {
    const room = this.#hub.findRoom(topic);
    return room?.members.has(this.#id) ? room : undefined;
  }

  #roomWith(peer: string): string | undefined {
    const rooms = this.#client.peer instanceof Peer ? this.#client.peer.rooms : [];
    return rooms.find(({ name }) => this.#hub.findRoom(name)?.members.has(peer))?.name;
  }

  hold(): void {
    this.#client.input.hold();
  }

  release(): void {
    this.#client.input.release();
  }

  close(reason: string): void {
    this.#client.close(closeCode.goingAway, reason);
  }
}

const messageWith = (topic: string, data: YWebrtcData): JsonObject => ({ type: "publish", topic, data });
