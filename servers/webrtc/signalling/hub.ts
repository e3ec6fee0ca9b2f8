import { randomBytes } from "node:crypto";
import type { IceServer } from "../../../contract/services/webrtc.ts";
import type { WebrtcSignalKind } from "../../../contract/traffic/webrtc.ts";
import { ChatHistory, type ChatLimits } from "./chat-history.ts";
import { Peer, type PeerFacts } from "./peer.ts";
import { passwordOf, Room } from "./room.ts";
import { type JoinRequest, type PasswordFailures, RoomAccess, type RoomLimits } from "./room-access.ts";
import type { ChatEvent, DeliveryEffect, PeerEvent, Refusal, RefusalCode, Signal } from "./signalling-event.ts";
import type { EndedBy, OtherInstances, RoomElsewhere, SignalFact, SignallingObserver } from "./signalling-observer.ts";
import { UnsentBytes, type UnsentLimits } from "./unsent-bytes.ts";

export interface HubLimits extends ChatLimits, RoomLimits, UnsentLimits {
  /** Connected at the same time. */
  readonly peers: number;
  /** Characters of a chat message. */
  readonly chatLength: number;
}

/** A message of a client as it came, without passwords. */
export interface ClientMessage {
  readonly raw: string | Uint8Array;
  /** Its type in the client's dialect, which a refusal names. */
  readonly re?: string | undefined;
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

/** Brings an event to a peer, at once or later, or not at all, and says what was done to it. */
export type Deliver = (peer: Peer, event: PeerEvent) => readonly DeliveryEffect[];

export const deliverAtOnce = (peer: Peer, event: PeerEvent): void => {
  if (peer.isConnected) peer.facts.link.deliver(event);
};
const unaffected: readonly DeliveryEffect[] = [];

/** Of messages of the dashboard. */
export const serviceId = "service";
export const serviceStops = "the service stops";

const idBytes = 9;

/** Peers, rooms and chat of all dialects. A dialect makes a peer with `connect` and calls what its client asks for. */
export class Hub {
  readonly #options: HubOptions;
  readonly #deliver: Deliver;
  readonly #peers = new Map<string, Peer>();
  readonly #rooms = new Map<string, Room>();
  readonly #history: ChatHistory;
  /** Peers of other instances, which are in a room. */
  readonly #elsewhere = new Map<string, Peer>();
  #others: OtherInstances | undefined;
  /** Called for each peer that can be reached from now on. */
  readonly appeared = new Set<(peer: Peer) => void>();
  readonly #access: RoomAccess;
  readonly #unsent: UnsentBytes;
  /** Messages of clients so far. */
  messages = 0;
  /** Messages to clients so far. */
  deliveries = 0;
  opened = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#deliver =
      options.deliver ??
      ((peer, event) => {
        deliverAtOnce(peer, event);
        return unaffected;
      });
    this.#history = new ChatHistory(options.limits);
    this.#access = new RoomAccess(options.limits, options.failures);
    this.#unsent = new UnsentBytes(
      options.limits,
      () => this.#peers.values(),
      (peer) => this.disconnect(peer, "it reads too slowly", "server"),
    );
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

  /** Also a peer of another instance. */
  find(id: string): Peer | undefined {
    return this.#peers.get(id) ?? this.#elsewhere.get(id);
  }

  /** No other peer may have this identifier. */
  isTaken(id: string): boolean {
    return id === serviceId || this.find(id) !== undefined;
  }

  findRoom(name: string): Room | undefined {
    return this.#rooms.get(name);
  }

  /** Undefined where there are too many peers, or the wanted identifier is taken. It is sent its welcome. */
  connect(facts: PeerFacts, wantedId?: string): Peer | undefined {
    if (this.#peers.size >= this.#options.limits.peers) return undefined;
    if (wantedId !== undefined && this.isTaken(wantedId)) return undefined;
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
    this.#unsent.forget(peer);
    // Its rooms are still known.
    this.#options.observer.onDisconnected(peer, reason, by);
    for (const room of [...peer.rooms]) this.#remove(peer, room.name);
    peer.facts.link.close(reason);
  }

  join(peer: Peer, wanted: JoinRequest, message: ClientMessage): boolean {
    const refusal = this.#access.refusalOf(peer, wanted, this.#rooms);
    // Before it is recorded: its row has the name that it joins with.
    if (!refusal && wanted.name !== undefined) peer.name = wanted.name;
    this.#observe(peer, { kind: "join", room: wanted.room, refusal, deliveries: refusal ? 0 : 1 }, message);
    if (refusal) return false;
    const { room: name, password } = wanted;
    let room = this.#rooms.get(name);
    if (!room) {
      room = new Room(name, password ? passwordOf(password) : undefined);
      this.#rooms.set(name, room);
    }
    const isNew = !room.members.has(peer.id);
    if (isNew) {
      room.add(peer);
      peer.rooms.push(room);
    }
    this.#others?.joined(peer, room);
    this.#send(peer, { type: "joined", room: name, peers: room.membersBeside(peer) });
    if (!isNew) return true;
    for (const { message: kept } of room.chat) this.#send(peer, { ...kept, isHistory: true });
    this.#tell(room, { type: "peer-joined", room: name, id: peer.id, name: peer.name }, peer);
    return true;
  }

  leave(peer: Peer, name: string, message: ClientMessage): boolean {
    const room = this.#roomOf(peer, name);
    const refusal = room ? undefined : notInRoom(name);
    this.#observe(peer, { kind: "leave", room: name, refusal, deliveries: room ? room.members.size - 1 : 0 }, message);
    if (room) this.#remove(peer, name);
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
      const receiver = this.find(to);
      const refusal = receiver ? undefined : ({ code: "peer-unknown", message: "There is no such peer" } as const);
      const passed = this.#pass(receiver ? [receiver] : [], { type: "signal", from: peer.id, signal });
      this.#observe(peer, { kind, to, refusal, ...passed }, message);
      return receiver !== undefined;
    }
    const rooms = peer.rooms.flatMap(({ name }) => (room === undefined || room === name ? (this.#rooms.get(name) ?? []) : []));
    const refusal = rooms.length === 0 ? notInRoom(room) : undefined;
    const receivers = othersIn(rooms, peer);
    const passed = this.#pass(receivers, { type: "signal", from: peer.id, room: room ?? rooms[0]?.name, signal });
    this.#observe(peer, { kind, room: room ?? rooms[0]?.name, refusal, ...passed }, message);
    return refusal === undefined;
  }

  #pass(receivers: readonly Peer[], event: PeerEvent): Pick<SignalFact, "deliveries" | "effects"> {
    const effects = receivers.flatMap((receiver) => this.#send(receiver, event));
    return { deliveries: receivers.length - effects.filter((effect) => effect === "dropped").length, effects };
  }

  say(peer: Peer, name: string, text: string, message: ClientMessage): boolean {
    const room = this.#roomOf(peer, name);
    const refusal = room ? this.#refusalOfText(text) : notInRoom(name);
    this.#observe(peer, { kind: "chat", room: name, refusal, deliveries: refusal || !room ? 0 : room.members.size - 1 }, message);
    if (refusal || !room) return false;
    this.#sayIn(room, { type: "chat", from: peer.id, name: peer.name, text, at: Date.now(), room: name }, peer);
    return true;
  }

  sayTo(peer: Peer, to: string, text: string, message: ClientMessage): boolean {
    const receiver = this.find(to);
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
      const peer = this.find(target.to);
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
    this.#others?.roomClosed(name);
    this.closeRoomHere(name);
    return true;
  }

  /** For the members that are connected here. */
  closeRoomHere(name: string): void {
    const room = this.#rooms.get(name);
    for (const member of [...(room?.members.values() ?? [])]) {
      if (!room || member.isElsewhere) continue;
      this.#send(member, { type: "error", code: "room-closed", message: `The room ${name} was closed` });
      this.#remove(member, name);
    }
  }

  /** From now on they are told what happens here. */
  share(others: OtherInstances | undefined): void {
    this.#others = others;
  }

  /** A peer that is connected to another instance is in a room. */
  joinElsewhere(peer: Peer, { name, since, password }: RoomElsewhere): void {
    const known = this.#elsewhere.get(peer.id) ?? peer;
    this.#elsewhere.set(peer.id, known);
    known.name = peer.name;
    const room = this.#rooms.get(name) ?? new Room(name, password, since);
    this.#rooms.set(name, room);
    // Two instances have opened the room at the same time: the older one counts.
    if (since < room.since) {
      room.since = since;
      room.password = password;
    }
    if (room.members.has(known.id)) return;
    room.add(known);
    known.rooms.push(room);
    this.#tell(room, { type: "peer-joined", room: name, id: known.id, name: known.name });
    if (known.rooms.length === 1) for (const notify of this.appeared) notify(known);
  }

  /** It has left a room, or all of them. */
  leaveElsewhere(id: string, name?: string): void {
    const peer = this.#elsewhere.get(id);
    if (!peer) return;
    for (const room of [...peer.rooms]) if (name === undefined || room.name === name) this.#remove(peer, room.name);
    if (peer.rooms.length > 0) return;
    peer.isConnected = false;
    this.#elsewhere.delete(id);
  }

  /** A message of another instance for a peer that is connected here. */
  deliverHere(id: string, event: PeerEvent): void {
    const peer = this.#peers.get(id);
    if (peer) this.#send(peer, event);
  }

  /** A message of chat of another instance. */
  sayHere(name: string, event: ChatEvent): void {
    const room = this.#rooms.get(name);
    if (room) this.#sayToOwn(room, event, undefined);
  }

  /** The chat of a room from before this instance knew it. */
  remember(name: string, chat: readonly ChatEvent[]): void {
    const room = this.#rooms.get(name);
    if (room && room.chatMessages === 0) for (const event of chat) this.#history.add(room, event);
  }

  close(): void {
    for (const peer of [...this.#peers.values()]) this.disconnect(peer, serviceStops, "server");
  }

  #sayIn(room: Room, event: ChatEvent, sender: Peer | undefined): void {
    this.#others?.said(room, event);
    this.#sayToOwn(room, event, sender);
  }

  #sayToOwn(room: Room, event: ChatEvent, sender: Peer | undefined): void {
    this.#history.add(room, event);
    this.#tell(room, event, sender);
  }

  /** The members that are connected here, but for one. */
  #tell(room: Room, event: PeerEvent, except?: Peer): void {
    for (const member of room.members.values()) if (member !== except && !member.isElsewhere) this.#send(member, event);
  }

  #roomOf(peer: Peer, name: string): Room | undefined {
    const room = this.#rooms.get(name);
    return room?.members.has(peer.id) ? room : undefined;
  }

  #remove(peer: Peer, name: string): void {
    const room = this.#roomOf(peer, name);
    if (!room) return;
    peer.rooms.splice(peer.rooms.indexOf(room), 1);
    room.remove(peer);
    if (!peer.isElsewhere) this.#others?.left(peer, room);
    if (room.members.size === 0) {
      this.#history.forget(room);
      this.#rooms.delete(name);
      return;
    }
    this.#tell(room, { type: "peer-left", room: name, id: peer.id });
  }

  #refusalOfText(text: string): Refusal | undefined {
    const { chatLength } = this.#options.limits;
    return text.length > chatLength ? { code: "too-long", message: `A chat message has at most ${chatLength} characters` } : undefined;
  }

  #observe(peer: Peer, fact: Omit<SignalFact, "peer" | "raw">, { raw, re }: ClientMessage): void {
    this.messages++;
    peer.received++;
    peer.receivedBytes += raw.length;
    this.#options.observer.onMessage({ ...fact, peer, raw });
    if (fact.refusal) this.#send(peer, { type: "error", ...fact.refusal, re });
  }

  #send(peer: Peer, event: PeerEvent): readonly DeliveryEffect[] {
    if (!peer.isConnected || this.#unsent.isSlow(peer)) return unaffected;
    // The faults of the sender are here, those of the receiver where it is connected.
    if (peer.isElsewhere) return this.#deliver(peer, event);
    const before = peer.facts.link.unsentBytes;
    const effects = this.#deliver(peer, event);
    if (effects.includes("dropped")) return effects;
    peer.sent++;
    this.#unsent.sent(peer, before);
    return effects;
  }
}

const notInRoom = (name: string | undefined): { readonly code: RefusalCode; readonly message: string } => ({
  code: "not-in-room",
  message: name === undefined ? "The peer is in no room" : "The peer is not in this room",
});

function othersIn(rooms: readonly Room[], peer: Peer): readonly Peer[] {
  const others = new Set<Peer>();
  for (const room of rooms) for (const member of room.members.values()) others.add(member);
  others.delete(peer);
  return [...others];
}
