import { randomBytes } from "node:crypto";
import type { WebrtcSignalKind } from "../../../contract/traffic/webrtc.ts";
import { ChatHistory } from "./chat-history.ts";
import type { HubOptions } from "./hub-options.ts";
import { Peer, type PeerFacts, remoteHostOf } from "./peer.ts";
import { Peers } from "./peers.ts";
import { othersIn, ownMembers, passwordOf, Room } from "./room.ts";
import { type JoinRequest, notInRoom, peerUnknown, RoomAccess } from "./room-access.ts";
import { type BroadcastFrom, RoomBroadcasts } from "./room-broadcasts.ts";
import { Rooms } from "./rooms.ts";
import { SignalPassing } from "./signal-passing.ts";
import { clearPath } from "./signal-path.ts";
import type { ChatEvent, PeerEvent, Refusal, Signal, SignalEvent } from "./signalling-event.ts";
import type { EndedBy, OtherInstances, RoomElsewhere, SignalFact } from "./signalling-observer.ts";
import { UnsentBytes } from "./unsent-bytes.ts";

/** A message of a client as it came, without passwords. */
export interface ClientMessage {
  readonly raw: string | Uint8Array;
  /** Its type in the client's dialect, which a refusal names. */
  readonly re?: string | undefined;
}

interface Target {
  readonly to?: string | undefined;
  readonly room?: string | undefined;
  readonly signal: Signal;
  /** The sender gets its signal too. */
  readonly isEchoed?: boolean;
}

/** Of messages of the dashboard. */
export const serviceId = "service";
export const serviceStops = "the service stops";

const idBytes = 9;

/** Peers, rooms and chat of all dialects. A dialect makes a peer with `connect` and calls what its client asks for. */
export class Hub {
  readonly #options: HubOptions;
  readonly #signals: SignalPassing;
  readonly #peers = new Peers();
  readonly #rooms = new Rooms();
  readonly #history: ChatHistory;
  /** Peers of other instances, which are in a room. */
  readonly #elsewhere = new Map<string, Peer>();
  #others: OtherInstances | undefined;
  /** Called for each peer that can be reached from now on. */
  readonly appeared = new Set<(peer: Peer) => void>();
  readonly #access: RoomAccess;
  readonly unsent: UnsentBytes;
  readonly #broadcasts: RoomBroadcasts;
  #isClosing = false;
  /** Messages of clients so far. */
  messages = 0;
  opened = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#history = new ChatHistory(options.limits);
    this.#broadcasts = new RoomBroadcasts(
      (peer, event) => this.#hand(peer, event),
      (peer, send) => this.unsent.excuse(peer, send),
      (peer) => this.disconnect(peer, "too much of what it has sent waits", "server"),
      options.turns,
    );
    this.#signals = new SignalPassing(options.path ?? clearPath, this.#broadcasts);
    this.#access = new RoomAccess(options.limits, options.failures);
    this.unsent = new UnsentBytes(
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

  largestRooms(most: number): readonly Room[] {
    return this.#rooms.largest(most);
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
    if (wantedId !== undefined && this.isTaken(wantedId)) return undefined;
    const peer = new Peer(wantedId ?? this.newId(), facts);
    if (this.#peers.size >= this.#options.limits.peers) {
      const givingWay = this.#peers.givingWay(peer);
      if (!givingWay) return undefined;
      this.disconnect(givingWay, "there are too many peers, and its address has most of them (WEBRTC_PEERS)", "server");
    }
    this.#peers.enter(peer);
    this.opened++;
    this.#options.observer.onConnected(peer);
    this.#hand(peer, { type: "welcome", id: peer.id, iceServers: this.#options.iceServers(peer) });
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
    this.#peers.leave(peer);
    this.unsent.forget(peer);
    // Its rooms are still known.
    this.#options.observer.onDisconnected(peer, reason, by);
    for (const room of [...peer.rooms]) this.#remove(peer, room.name, { by: peer });
    peer.facts.link.close(reason);
  }

  join(peer: Peer, wanted: JoinRequest, message: ClientMessage): boolean {
    const refusal = this.#access.refusalOf(peer, wanted, this.#rooms);
    // Before it is recorded: its row has the name that it joins with.
    if (!refusal && wanted.name !== undefined) peer.name = wanted.name;
    this.#observe(peer, { kind: "join", room: wanted.room, refusal, deliveries: refusal ? 0 : 1 }, message);
    if (refusal) return false;
    const { room: name, password } = wanted;
    const room = this.#rooms.get(name) ?? this.#open(new Room(name, password ? passwordOf(password) : undefined), peer);
    const isNew = !room.members.has(peer.id);
    if (isNew) this.#rooms.enter(room, peer);
    this.#others?.joined(peer, room);
    if (!isNew) {
      this.#broadcasts.welcomeAgain(room, peer);
      return true;
    }
    const history = Array.from(room.chat, (kept) => kept.message);
    this.#broadcasts.welcome(room, peer, history);
    this.#broadcasts.tell(room, { type: "peer-joined", room: name, id: peer.id, name: peer.name }, { sender: peer });
    return true;
  }

  #open(room: Room, opener: Peer): Room {
    const givingWay = this.#rooms.size >= this.#options.limits.rooms ? this.#rooms.givingWay(opener) : undefined;
    if (givingWay) this.closeRoom(givingWay.name, ": there are too many, and the address of its members has most of them (WEBRTC_ROOMS)");
    return this.#rooms.open(room);
  }

  leave(peer: Peer, name: string, message: ClientMessage): boolean {
    const room = this.#roomOf(peer, name);
    const refusal = room ? undefined : notInRoom(name);
    this.#observe(peer, { kind: "leave", room: name, refusal, deliveries: room ? room.members.size - 1 : 0 }, message);
    if (room) this.#remove(peer, name, { sender: peer });
    return room !== undefined;
  }

  /** To one peer, or to all others in a room or, without both, in all rooms of the sender. */
  signal(peer: Peer, { to, room: name, signal, isEchoed = false }: Target, message: ClientMessage): boolean {
    const passed = (result: Omit<SignalFact, "peer" | "raw" | "kind">): boolean => {
      this.#observe(peer, { kind: signal.kind, ...result }, message);
      const room = isEchoed && name !== undefined ? this.#roomOf(peer, name) : undefined;
      if (room && !result.refusal)
        this.#broadcasts.tell(room, { type: "signal", from: peer.id, room: name, signal }, { sender: peer, to: [peer] });
      return result.refusal === undefined;
    };
    if (to !== undefined) {
      const receiver = this.find(to);
      if (!receiver) return passed({ to, deliveries: 0, refusal: peerUnknown });
      return passed({ to, ...this.#signals.toOne(receiver, { type: "signal", from: peer.id, signal }) });
    }
    const rooms = peer.rooms.flatMap((room) => (name === undefined || name === room.name ? (this.#rooms.get(room.name) ?? []) : []));
    const [first] = rooms;
    if (!first) return passed({ room: name, deliveries: 0, refusal: notInRoom(name) });
    const event: SignalEvent = { type: "signal", from: peer.id, room: name ?? first.name, signal };
    if (!this.#signals.isClear) {
      this.#signals.toMany(othersIn(rooms, peer), event, first, peer, (result) => passed({ room: event.room, ...result }));
      return true;
    }
    const deliveries = rooms.length === 1 ? first.members.size - 1 : othersIn(rooms, peer).length;
    // Nothing is kept or sent for each member: there may be thousands, and as many who send.
    for (const [index, room] of rooms.entries()) {
      const beside = rooms.slice(0, index);
      this.#others?.broadcast(room, event, beside);
      this.#broadcasts.tell(room, event, { sender: peer, beside });
    }
    return passed({ room: event.room, deliveries });
  }

  say(peer: Peer, name: string, text: string, message: ClientMessage): boolean {
    const room = this.#roomOf(peer, name);
    const refusal = room ? this.#access.refusalOfText(text) : notInRoom(name);
    this.#observe(peer, { kind: "chat", room: name, refusal, deliveries: refusal || !room ? 0 : room.members.size - 1 }, message);
    if (refusal || !room) return false;
    this.#sayIn(room, { type: "chat", from: peer.id, name: peer.name, text, at: Date.now(), room: name }, peer);
    return true;
  }

  sayTo(peer: Peer, to: string, text: string, message: ClientMessage): boolean {
    const receiver = this.find(to);
    const refusal = receiver ? this.#access.refusalOfText(text) : peerUnknown;
    this.#observe(peer, { kind: "chat", to, refusal, deliveries: refusal ? 0 : 1 }, message);
    if (refusal || !receiver) return false;
    this.#broadcasts.send(receiver, { type: "chat", from: peer.id, name: peer.name, text, at: Date.now() });
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
      if (peer) this.#broadcasts.send(peer, event);
      return peer ? 1 : 0;
    }
    const room = this.#rooms.get(target.room);
    const deliveries = room?.members.size ?? 0;
    this.#options.observer.onMessage({ kind: "chat", peer: undefined, room: target.room, raw: text, deliveries });
    if (room) this.#sayIn(room, { ...event, room: room.name }, undefined);
    return deliveries;
  }

  /** Its members leave it, and stay connected. */
  closeRoom(name: string, why?: string): boolean {
    if (!this.#rooms.has(name)) return false;
    this.#others?.roomClosed(name);
    this.closeRoomHere(name, why);
    return true;
  }

  /** For the members that are connected here. */
  closeRoomHere(name: string, why = ""): void {
    const room = this.#rooms.get(name);
    if (!room) return;
    const members = ownMembers(room);
    // The newest first: with the oldest, a room passes to the address of the next one.
    for (const member of members.toReversed()) this.#takeOut(member, room);
    this.#broadcasts.tell(room, { type: "error", code: "room-closed", message: `The room ${name} was closed${why}` }, { to: members });
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
    const room = this.#rooms.get(name) ?? this.#rooms.open(new Room(name, password, since));
    // Two instances have opened the room at the same time: the older one counts.
    if (since < room.since) {
      room.since = since;
      room.password = password;
    }
    if (room.members.has(known.id)) return;
    this.#rooms.enter(room, known);
    this.#broadcasts.tell(room, { type: "peer-joined", room: name, id: known.id, name: known.name });
    if (known.rooms.length === 1) for (const notify of this.appeared) notify(known);
  }

  /** It has left a room, or all of them. */
  leaveElsewhere(id: string, name?: string): void {
    const peer = this.#elsewhere.get(id);
    if (!peer) return;
    for (const room of [...peer.rooms]) if (name === undefined || room.name === name) this.#remove(peer, room.name, {});
    if (peer.rooms.length > 0) return;
    peer.isConnected = false;
    this.#elsewhere.delete(id);
    this.#signals.forget(id);
  }

  /** A signal of another instance for all members of a room that are connected here. */
  broadcastHere(name: string, event: SignalEvent, besideNames: readonly string[]): void {
    const room = this.#rooms.get(name);
    if (!room) return;
    const beside = besideNames.flatMap((one) => this.#rooms.get(one) ?? []);
    if (this.#signals.isClear) this.#broadcasts.tell(room, event, { beside });
    else {
      const receivers = ownMembers(room).filter(({ id }) => !beside.some(({ members }) => members.has(id)));
      this.#signals.toManyHere(receivers, event, room);
    }
  }

  /** A message of another instance for a peer that is connected here. */
  deliverHere(id: string, event: PeerEvent): void {
    const receiver = this.#peers.get(id);
    if (!receiver) return;
    if (event.type === "signal") this.#signals.toOne(receiver, event, event.room === undefined ? undefined : this.#rooms.get(event.room));
    else this.#broadcasts.send(receiver, event);
  }

  /** A message of chat of another instance. */
  sayHere(name: string, event: ChatEvent): void {
    const room = this.#rooms.get(name);
    if (room) this.#sayToOwn(room, event, undefined);
  }

  /** The chat of a room from before this instance knew it. */
  remember(name: string, chat: readonly ChatEvent[]): void {
    const room = this.#rooms.get(name);
    if (room && room.chatMessages === 0) for (const event of chat) this.#history.add(room, event, "");
  }

  close(): void {
    this.#isClosing = true;
    this.#broadcasts.close();
    for (const peer of [...this.#peers.values()]) this.disconnect(peer, serviceStops, "server");
  }

  #sayIn(room: Room, event: ChatEvent, sender: Peer | undefined): void {
    this.#others?.said(room, event);
    this.#sayToOwn(room, event, sender);
  }

  #sayToOwn(room: Room, event: ChatEvent, sender: Peer | undefined): void {
    this.#history.add(room, event, sender ? remoteHostOf(sender) : "");
    this.#broadcasts.tell(room, event, { sender });
  }

  #roomOf(peer: Peer, name: string): Room | undefined {
    const room = this.#rooms.get(name);
    return room?.members.has(peer.id) ? room : undefined;
  }

  #remove(peer: Peer, name: string, from: BroadcastFrom): void {
    const room = this.#roomOf(peer, name);
    if (!room) return;
    this.#takeOut(peer, room);
    if (room.members.size > 0 && !this.#isClosing) this.#broadcasts.tell(room, { type: "peer-left", room: name, id: peer.id }, from);
  }

  /** The others are not told. */
  #takeOut(peer: Peer, room: Room): void {
    this.#rooms.leave(room, peer);
    this.#broadcasts.left(peer, room);
    if (!peer.isElsewhere) this.#others?.left(peer, room);
    if (room.members.size === 0) this.#history.forget(room);
  }

  #observe(peer: Peer, fact: Omit<SignalFact, "peer" | "raw">, { raw, re }: ClientMessage): void {
    this.messages++;
    peer.received++;
    peer.receivedBytes += raw.length;
    this.#options.observer.onMessage({ ...fact, peer, raw });
    if (fact.refusal) this.#hand(peer, { type: "error", ...fact.refusal, re });
  }

  #hand(peer: Peer, event: PeerEvent): void {
    this.unsent.watch(peer, () => {
      peer.facts.link.deliver(event);
      if (!peer.isElsewhere) peer.sent++;
    });
  }
}
