import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IceServer } from "../../../contract/services/webrtc.ts";
import type { WebrtcSignalKind } from "../../../contract/traffic/webrtc.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { ChatHistory, type ChatLimits } from "./chat-history.ts";
import { Peer, type PeerFacts, remoteHostOf } from "./peer.ts";
import { Room } from "./room.ts";
import type { ChatEvent, PeerEvent, Refusal, RefusalCode, Signal } from "./signalling-event.ts";

export interface HubLimits extends ChatLimits {
  /** Connected at the same time. */
  readonly peers: number;
  readonly rooms: number;
  /** Members of a room. */
  readonly roomPeers: number;
  /** Rooms of a peer. */
  readonly peerRooms: number;
  /** Characters of the name of a room or a peer, and of a password. */
  readonly nameLength: number;
  /** Characters of a chat message. */
  readonly chatLength: number;
  /** What waits for one client; one that lets more wait is disconnected. */
  readonly unsentBytes: number;
  /** What waits for all clients; beyond it those for whom most waits are disconnected. */
  readonly allUnsentBytes: number;
}

/** Wrong passwords of rooms, by address. */
export interface PasswordFailures {
  isBlocked(address: string): boolean;
  count(address: string): void;
}

/** A message of a client as it came, without passwords. */
export interface ClientMessage {
  readonly raw: string | Uint8Array;
  /** Its type in the client's dialect, which a refusal names. */
  readonly re?: string | undefined;
}

/** What became of a message. */
export interface SignalFact {
  readonly kind: WebrtcSignalKind;
  /** Absent for one of the dashboard. */
  readonly peer: Peer | undefined;
  readonly to?: string | undefined;
  readonly room?: string | undefined;
  readonly raw: string | Uint8Array;
  readonly deliveries: number;
  readonly refusal?: Refusal | undefined;
}

/** Who ended a connection. */
export type EndedBy = "client" | "server";

export interface SignallingObserver {
  onConnected(peer: Peer): void;
  onDisconnected(peer: Peer, reason: string, by: EndedBy): void;
  onMessage(fact: SignalFact): void;
}

export interface HubOptions {
  readonly limits: HubLimits;
  readonly observer: SignallingObserver;
  readonly failures: PasswordFailures;
  /** For the welcome of a peer. */
  readonly iceServers: (peer: Peer) => readonly IceServer[];
  /** Between the hub and the clients: what a tester has asked for happens here. */
  readonly deliver?: Deliver;
}

/** Brings an event to a peer, at once or later, or not at all. */
export type Deliver = (peer: Peer, event: PeerEvent) => void;

export const deliverAtOnce: Deliver = (peer, event) => {
  if (peer.isConnected) peer.facts.link.deliver(event);
};

/** Of messages of the dashboard. */
export const serviceId = "service";
export const serviceStops = "the service stops";

const idBytes = 9;
const recountMs = 100;

/** Peers, rooms and chat of all dialects. A dialect makes a peer with `connect` and calls what its client asks for. */
export class Hub {
  readonly #options: HubOptions;
  readonly #deliver: Deliver;
  readonly #peers = new Map<string, Peer>();
  readonly #rooms = new Map<string, Room>();
  readonly #history: ChatHistory;
  readonly #passwordKey = randomBytes(32);
  /** They have left too much unread. They are disconnected after the message that they were sent. */
  readonly #slow = new Set<Peer>();
  #isClosingSlow = false;
  /** An upper bound, counted anew where it is too much. */
  #allUnsentBytes = 0;
  #recountedAt = 0;
  /** Messages of clients so far. */
  messages = 0;
  /** Messages to clients so far. */
  deliveries = 0;
  opened = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#deliver = options.deliver ?? deliverAtOnce;
    this.#history = new ChatHistory(options.limits);
  }

  get peerCount(): number {
    return this.#peers.size;
  }

  get roomCount(): number {
    return this.#rooms.size;
  }

  peers(): IterableIterator<Peer> {
    return this.#peers.values();
  }

  rooms(): IterableIterator<Room> {
    return this.#rooms.values();
  }

  find(id: string): Peer | undefined {
    return this.#peers.get(id);
  }

  findRoom(name: string): Room | undefined {
    return this.#rooms.get(name);
  }

  /** Undefined where there are too many peers, or the wanted identifier is taken. It is sent its welcome. */
  connect(facts: PeerFacts, wantedId?: string): Peer | undefined {
    if (this.#peers.size >= this.#options.limits.peers) return undefined;
    if (wantedId !== undefined && (this.#peers.has(wantedId) || wantedId === serviceId)) return undefined;
    const peer = new Peer(wantedId ?? this.newId(), facts);
    this.#peers.set(peer.id, peer);
    this.opened++;
    this.#options.observer.onConnected(peer);
    this.#send(peer, { type: "welcome", id: peer.id, iceServers: this.#options.iceServers(peer) });
    return peer;
  }

  /** An identifier that nobody can guess. */
  newId(): string {
    return randomBytes(idBytes).toString("base64url");
  }

  /** The connection is closed, or is to be closed: the peer leaves its rooms. */
  disconnect(peer: Peer, reason: string, by: EndedBy): void {
    if (!peer.isConnected) return;
    peer.isConnected = false;
    this.#peers.delete(peer.id);
    this.#slow.delete(peer);
    // Its rooms are still known.
    this.#options.observer.onDisconnected(peer, reason, by);
    for (const room of [...peer.rooms]) this.#remove(peer, room);
    peer.facts.link.close(reason);
  }

  join(
    peer: Peer,
    wanted: { readonly room: string; readonly name?: string | undefined; readonly password?: string | undefined },
    message: ClientMessage,
  ): boolean {
    const refusal = this.#refusalOfJoin(peer, wanted);
    this.#observe(peer, { kind: "join", room: wanted.room, refusal, deliveries: refusal ? 0 : 1 }, message);
    if (refusal) return false;
    if (wanted.name !== undefined) peer.name = wanted.name;
    const { room: name, password } = wanted;
    let room = this.#rooms.get(name);
    if (!room) {
      room = new Room(name, password ? this.#digest(password) : undefined);
      this.#rooms.set(name, room);
    }
    const isNew = !room.members.has(peer.id);
    const others = [...room.members.values()];
    if (isNew) {
      room.members.set(peer.id, peer);
      peer.rooms.push(room);
    }
    this.#send(peer, { type: "joined", room: name, peers: room.membersBeside(peer) });
    if (!isNew) return true;
    for (const { message: kept } of room.chat) this.#send(peer, { ...kept, isHistory: true });
    const event: PeerEvent = { type: "peer-joined", room: name, id: peer.id, name: peer.name };
    for (const other of others) this.#send(other, event);
    return true;
  }

  leave(peer: Peer, name: string, message: ClientMessage): boolean {
    const room = peer.rooms.find((one) => one.name === name);
    const refusal = room ? undefined : notInRoom(name);
    this.#observe(peer, { kind: "leave", room: name, refusal, deliveries: room ? room.members.size - 1 : 0 }, message);
    if (room) this.#remove(peer, room);
    return room !== undefined;
  }

  /** To one peer, or to all others in a room or, without both, in all rooms of the sender. */
  signal(
    peer: Peer,
    { to, room, signal }: { readonly to?: string | undefined; readonly room?: string | undefined; readonly signal: Signal },
    message: ClientMessage,
  ): boolean {
    const { kind } = signal;
    if (to !== undefined) {
      const receiver = this.#peers.get(to);
      const refusal = receiver ? undefined : ({ code: "peer-unknown", message: "There is no such peer" } as const);
      this.#observe(peer, { kind, to, refusal, deliveries: receiver ? 1 : 0 }, message);
      if (receiver) this.#send(receiver, { type: "signal", from: peer.id, signal });
      return receiver !== undefined;
    }
    const rooms = room === undefined ? peer.rooms : peer.rooms.filter(({ name }) => name === room);
    const refusal = rooms.length === 0 ? notInRoom(room) : undefined;
    const receivers = this.#others(peer, rooms);
    this.#observe(peer, { kind, room: room ?? rooms[0]?.name, refusal, deliveries: receivers.length }, message);
    const event: PeerEvent = { type: "signal", from: peer.id, room: room ?? rooms[0]?.name, signal };
    for (const receiver of receivers) this.#send(receiver, event);
    return refusal === undefined;
  }

  say(peer: Peer, name: string, text: string, message: ClientMessage): boolean {
    const room = peer.rooms.find((one) => one.name === name);
    const refusal = room ? this.#refusalOfText(text) : notInRoom(name);
    this.#observe(peer, { kind: "chat", room: name, refusal, deliveries: refusal || !room ? 0 : room.members.size - 1 }, message);
    if (refusal || !room) return false;
    this.#sayIn(room, { type: "chat", from: peer.id, name: peer.name, text, at: Date.now(), room: name }, peer);
    return true;
  }

  sayTo(peer: Peer, to: string, text: string, message: ClientMessage): boolean {
    const receiver = this.#peers.get(to);
    const refusal = receiver ? this.#refusalOfText(text) : ({ code: "peer-unknown", message: "There is no such peer" } as const);
    this.#observe(peer, { kind: "chat", to, refusal, deliveries: refusal ? 0 : 1 }, message);
    if (refusal || !receiver) return false;
    this.#send(receiver, { type: "chat", from: peer.id, name: peer.name, text, at: Date.now() });
    return true;
  }

  /** A message that a dialect does not understand, or refuses itself. */
  refuse(peer: Peer, refusal: Refusal, message: ClientMessage, kind: WebrtcSignalKind = "bad"): void {
    this.#observe(peer, { kind, refusal, deliveries: 0 }, message);
  }

  /** A message of a client that concerns nobody else. */
  note(peer: Peer, kind: WebrtcSignalKind, message: ClientMessage): void {
    this.#observe(peer, { kind, refusal: undefined, deliveries: 0 }, message);
  }

  /** A message of the dashboard. Returns how many got it. */
  announce(target: { readonly room: string } | { readonly to: string }, text: string): number {
    const event: ChatEvent = { type: "chat", from: serviceId, name: serviceId, text, at: Date.now() };
    if ("to" in target) {
      const peer = this.#peers.get(target.to);
      this.#options.observer.onMessage({ kind: "chat", peer: undefined, to: target.to, raw: text, deliveries: peer ? 1 : 0 });
      if (peer) this.#send(peer, event);
      return peer ? 1 : 0;
    }
    const room = this.#rooms.get(target.room);
    const deliveries = room?.members.size ?? 0;
    this.#options.observer.onMessage({ kind: "chat", peer: undefined, room: target.room, raw: text, deliveries });
    if (room) this.#sayIn(room, { ...event, room: room.name }, undefined);
    return deliveries;
  }

  /** Its members leave it, and stay connected. */
  closeRoom(name: string): boolean {
    const room = this.#rooms.get(name);
    if (!room) return false;
    for (const member of [...room.members.values()]) {
      this.#send(member, { type: "error", code: "room-closed", message: `The room ${name} was closed` });
      this.#remove(member, room);
    }
    return true;
  }

  close(): void {
    for (const peer of [...this.#peers.values()]) this.disconnect(peer, serviceStops, "server");
  }

  #sayIn(room: Room, event: ChatEvent, sender: Peer | undefined): void {
    this.#history.add(room, event);
    for (const member of room.members.values()) if (member !== sender) this.#send(member, event);
  }

  #others(peer: Peer, rooms: readonly Room[]): readonly Peer[] {
    const others = new Set<Peer>();
    for (const room of rooms) for (const member of room.members.values()) others.add(member);
    others.delete(peer);
    return [...others];
  }

  #remove(peer: Peer, room: Room): void {
    const at = peer.rooms.indexOf(room);
    if (at >= 0) peer.rooms.splice(at, 1);
    if (!room.members.delete(peer.id)) return;
    if (room.members.size === 0) {
      this.#history.forget(room);
      this.#rooms.delete(room.name);
      return;
    }
    const event: PeerEvent = { type: "peer-left", room: room.name, id: peer.id };
    for (const member of room.members.values()) this.#send(member, event);
  }

  #refusalOfJoin(
    peer: Peer,
    {
      room: name,
      password,
      name: ownName = "",
    }: { readonly room: string; readonly name?: string | undefined; readonly password?: string | undefined },
  ): Refusal | undefined {
    const { limits, failures } = this.#options;
    if (name.length > limits.nameLength || ownName.length > limits.nameLength || (password ?? "").length > limits.nameLength)
      return { code: "too-long", message: `A name or password is longer than ${limits.nameLength} characters` };
    const room = this.#rooms.get(name);
    if (room?.members.has(peer.id)) return undefined;
    if (peer.rooms.length >= limits.peerRooms) return { code: "too-many-rooms", message: `A peer may be in ${limits.peerRooms} rooms` };
    if (!room) return this.#rooms.size < limits.rooms ? undefined : { code: "too-many-rooms", message: `There are ${limits.rooms} rooms` };
    if (room.members.size >= limits.roomPeers) return { code: "room-full", message: `A room has at most ${limits.roomPeers} peers` };
    if (!room.password) return undefined;
    const address = rateLimitKey(remoteHostOf(peer));
    if (failures.isBlocked(address)) return { code: "too-many-failures", message: "Too many wrong passwords from this address" };
    if (password !== undefined && timingSafeEqual(room.password, this.#digest(password))) return undefined;
    failures.count(address);
    return { code: "wrong-password", message: password === undefined ? "The room has a password" : "The password of the room is wrong" };
  }

  #refusalOfText(text: string): Refusal | undefined {
    const { chatLength } = this.#options.limits;
    return text.length > chatLength ? { code: "too-long", message: `A chat message has at most ${chatLength} characters` } : undefined;
  }

  #digest(password: string): Buffer {
    return createHmac("sha256", this.#passwordKey).update(password).digest();
  }

  #observe(
    peer: Peer,
    fact: { kind: WebrtcSignalKind; to?: string | undefined; room?: string | undefined; refusal: Refusal | undefined; deliveries: number },
    { raw, re }: ClientMessage,
  ): void {
    this.messages++;
    peer.received++;
    peer.receivedBytes += raw.length;
    this.#options.observer.onMessage({ ...fact, peer, raw });
    if (fact.refusal) this.#send(peer, { type: "error", ...fact.refusal, re });
  }

  #send(peer: Peer, event: PeerEvent): void {
    if (!peer.isConnected || this.#slow.has(peer)) return;
    const { link } = peer.facts;
    const { limits } = this.#options;
    const before = link.unsentBytes;
    this.#deliver(peer, event);
    peer.sent++;
    this.deliveries++;
    const after = link.unsentBytes;
    this.#allUnsentBytes += Math.max(0, after - before);
    if (after > limits.unsentBytes) this.#disconnectLater(peer);
    else if (this.#allUnsentBytes > limits.allUnsentBytes) this.#recountUnsent();
  }

  /** What waits for clients shrinks without a word. */
  #recountUnsent(): void {
    const now = performance.now();
    if (now - this.#recountedAt < recountMs && this.#allUnsentBytes < 2 * this.#options.limits.allUnsentBytes) return;
    this.#recountedAt = now;
    const { allUnsentBytes } = this.#options.limits;
    const behind = [...this.#peers.values()].map((peer) => ({ peer, bytes: peer.facts.link.unsentBytes }));
    this.#allUnsentBytes = behind.reduce((sum, { bytes }) => sum + bytes, 0);
    behind.sort((one, other) => other.bytes - one.bytes);
    for (const { peer, bytes } of behind) {
      if (this.#allUnsentBytes <= allUnsentBytes) break;
      this.#allUnsentBytes -= bytes;
      this.#disconnectLater(peer);
    }
  }

  /** Not at once: the peer may be one of many that a message is being sent to, and others are told that it leaves. */
  #disconnectLater(peer: Peer): void {
    this.#slow.add(peer);
    if (this.#isClosingSlow) return;
    this.#isClosingSlow = true;
    setImmediate(() => {
      for (const one of this.#slow) this.disconnect(one, "it reads too slowly", "server");
      this.#slow.clear();
      this.#isClosingSlow = false;
    });
  }
}

const notInRoom = (name: string | undefined): { readonly code: RefusalCode; readonly message: string } => ({
  code: "not-in-room",
  message: name === undefined ? "The peer is in no room" : "The peer is not in this room",
});
