import { memoryOf } from "../../core/limits/json-limits.ts";
import { BroadcastLane, BroadcastMemory } from "../../core/streams/broadcast-lane.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import { WorkTurns } from "../../core/turns/work-turns.ts";
import { type JoinedRoom, type Peer, remoteHostOf } from "./peer.ts";
import type { Room } from "./room.ts";
import type { ChatEvent, PeerEvent } from "./signalling-event.ts";

/** What a broadcast costs beside its content. */
const broadcastBytes = 200;
const referenceBytes = 8;

interface Broadcast {
  /** Absent for a welcome. */
  readonly event: PeerEvent | undefined;
  /** Of the room, for its new member. */
  readonly history: readonly ChatEvent[];
  /** It is read no further until all have the event. */
  readonly sender: Peer | undefined;
  /** Absent where it is for all members that are connected here, but for the sender. */
  readonly to: readonly Peer[] | undefined;
}

/** What waits for the members of one room. */
interface RoomLane {
  readonly room: Room;
  readonly lane: BroadcastLane<Peer, Broadcast>;
  /** They have joined behind what waits: it is not for them. */
  readonly newcomers: Set<Peer>;
}

/**
 * Delivers what is for many in the turns of its sender, so that a large room delays nobody else. The members of a room get all in the same
 * order. A sender is held meanwhile, so that at most one message of each client waits.
 */
export class RoomBroadcasts {
  readonly #hand: (peer: Peer, event: PeerEvent) => void;
  readonly #cutOff: (peer: Peer) => void;
  /** Those in which something waits. */
  readonly #lanes = new Map<JoinedRoom, RoomLane>();
  /** Members whose welcome waits, in this room. */
  readonly #welcoming = new Map<Peer, Room>();
  readonly #memory = new BroadcastMemory();
  readonly #turns: WorkTurns;
  readonly #senders = new WeakMap<Peer, WorkConnection>();
  /** Of those that join again. */
  readonly #again = new WeakMap<Peer, WorkConnection>();
  /** What comes from other instances and from the service itself. */
  readonly #service: WorkConnection;
  #isClosed = false;

  /** `hand` brings an event to one peer; it does not call back. `cutOff` ends one that has sent most of what waits, when that is too much. */
  constructor(hand: (peer: Peer, event: PeerEvent) => void, cutOff: (peer: Peer) => void, turns = new WorkTurns()) {
    this.#hand = hand;
    this.#cutOff = cutOff;
    this.#turns = turns;
    this.#service = turns.connection("");
  }

  /** To all members that are connected here but the sender, or to some, which may include it. */
  tell(room: Room, event: PeerEvent, sender: Peer | undefined, to?: readonly Peer[]): void {
    this.#add(room, { event, history: [], sender, to });
  }

  /**
   * To a member that joins: who is there, and what was said. Made when it is delivered: a thousand may join, and each is told of all others. Without
   * a history it has joined again: nobody else waits for that.
   */
  welcome(room: Room, peer: Peer, history: readonly ChatEvent[] | undefined): void {
    if (!history && this.#welcoming.get(peer) !== room) {
      this.#welcomeAgain(room, peer);
      return;
    }
    this.#welcoming.set(peer, room);
    this.#add(room, { event: undefined, history: history ?? [], sender: peer, to: [peer] });
  }

  /** It comes behind the work for those who ask for less, and not behind what waits in the room: of that it is told in any case. */
  #welcomeAgain(room: Room, peer: Peer): void {
    const { link } = peer.facts;
    link.hold();
    const welcome = oneStep(() => {
      if (this.#isClosed || room.members.get(peer.id) !== peer) return;
      this.#welcome(peer, room, this.#lanes.get(room)?.newcomers, []);
    });
    const connection = this.#again.get(peer) ?? this.#turns.background(remoteHostOf(peer));
    this.#again.set(peer, connection);
    void connection.run(welcome).finally(() => link.release());
  }

  #add(room: Room, broadcast: Broadcast): void {
    const { event, sender } = broadcast;
    const known = this.#lanes.get(room);
    const roomLane = known ?? this.#laneOf(room);
    const { lane, newcomers } = roomLane;
    const joined = joinedBy(event, room);
    if (joined) newcomers.add(joined);
    const told = lane.send(broadcast, this.#connectionOf(sender));
    if (!told) return;
    if (!known) this.#lanes.set(room, roomLane);
    sender?.facts.link.hold();
    void told.then(() => {
      sender?.facts.link.release();
      if (lane.isEmpty && this.#lanes.get(room) === roomLane) this.#lanes.delete(room);
    });
  }

  #connectionOf(sender: Peer | undefined): WorkConnection {
    if (!sender || sender.isElsewhere) return this.#service;
    let connection = this.#senders.get(sender);
    if (!connection) {
      connection = this.#turns.connection(remoteHostOf(sender));
      this.#senders.set(sender, connection);
    }
    return connection;
  }

  #laneOf(room: Room): RoomLane {
    const newcomers = new Set<Peer>();
    const lane = new BroadcastLane<Peer, Broadcast>({
      memory: this.#memory,
      receivers({ event, to }) {
        const joined = joinedBy(event, room);
        if (joined) newcomers.delete(joined);
        return (to ?? room.members).values();
      },
      deliver: (receiver, { event, history, sender, to }) => {
        if (this.#isClosed) return;
        if (!event) this.#welcome(receiver, room, newcomers, history);
        else if (to || (receiver !== sender && !receiver.isElsewhere && !newcomers.has(receiver))) this.#hand(receiver, event);
      },
      bytesOf: ({ event, history, to }) =>
        broadcastBytes + (event ? sizeOf(event) : 0) + referenceBytes * (history.length + (to?.length ?? 0)),
      lost: ({ event, sender }) => {
        if (!event && sender) this.#welcoming.delete(sender);
        const joined = joinedBy(event, room);
        if (joined) newcomers.delete(joined);
        if (sender && !sender.isElsewhere) this.#cutOff(sender);
      },
    });
    return { room, lane, newcomers };
  }

  /** It hears of those that have joined and are not announced yet when they are. */
  #welcome(peer: Peer, room: Room, newcomers: ReadonlySet<Peer> | undefined, history: readonly ChatEvent[]): void {
    if (this.#welcoming.get(peer) === room) this.#welcoming.delete(peer);
    const peers = room.list.without((other) => other === peer || newcomers?.has(other) === true);
    this.#hand(peer, { type: "joined", room: room.name, peers });
    for (const event of history) this.#hand(peer, { ...event, isHistory: true });
  }

  /**
   * To one. It stays behind a welcome that waits; what a peer of another instance sends, behind what waits in a room that both are in, such as the news
   * that it has joined.
   */
  send(peer: Peer, event: PeerEvent): void {
    const room = this.#welcoming.get(peer) ?? (this.#lanes.size > 0 && "from" in event ? this.#roomOfBoth(peer, event.from) : undefined);
    if (room) this.tell(room, event, undefined, [peer]);
    else this.#hand(peer, event);
  }

  #roomOfBoth(peer: Peer, from: string): Room | undefined {
    for (const one of peer.rooms) {
      const room = this.#lanes.get(one)?.room;
      if (room?.members.get(from)?.isElsewhere) return room;
    }
    return undefined;
  }

  left(peer: Peer, room: Room): void {
    this.#lanes.get(room)?.newcomers.delete(peer);
    if (this.#welcoming.get(peer) === room) this.#welcoming.delete(peer);
  }

  /** What waits is delivered to nobody. */
  close(): void {
    this.#isClosed = true;
    this.#lanes.clear();
    this.#welcoming.clear();
  }
}

const joinedBy = (event: PeerEvent | undefined, { members }: Room): Peer | undefined =>
  event?.type === "peer-joined" ? members.get(event.id) : undefined;

function sizeOf(event: PeerEvent): number {
  if (event.type === "signal") return memoryOf(event.signal.payload);
  return event.type === "chat" ? 2 * event.text.length : 0;
}
