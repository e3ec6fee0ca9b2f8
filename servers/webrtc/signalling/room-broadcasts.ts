import { memoryOf } from "../../core/limits/json-limits.ts";
import { type DeliveryLane, DeliveryTurns } from "../../core/streams/delivery-turns.ts";
import type { JoinedRoom, Peer } from "./peer.ts";
import type { Room } from "./room.ts";
import type { ChatEvent, Member, PeerEvent } from "./signalling-event.ts";

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
  /** Zero while it does not wait. */
  bytes: number;
}

/**
 * Delivers what is for many in slices, so that a large room delays nobody else. The members of a room get all in the same order; rooms take turns. A
 * sender is held meanwhile, so that at most one message of each client waits.
 */
export class RoomBroadcasts {
  readonly #hand: (peer: Peer, event: PeerEvent) => void;
  /** Those in which something waits. */
  readonly #lanes = new Map<JoinedRoom, RoomLane>();
  readonly #turns = new DeliveryTurns();

  /** `hand` brings an event to one peer; it does not call back. */
  constructor(hand: (peer: Peer, event: PeerEvent) => void) {
    this.#hand = hand;
  }

  /** To all members that are connected here but the sender, or to some, which may include it. */
  tell(room: Room, event: PeerEvent, sender: Peer | undefined, to?: readonly Peer[]): void {
    this.#add(room, { event, history: [], sender, to, bytes: 0 });
  }

  /** To a member that joins, or joins again: who is there, and what was said. Made when it is delivered: a thousand may join, and each is told of all others. */
  welcome(room: Room, peer: Peer, history: readonly ChatEvent[]): void {
    this.#add(room, { event: undefined, history, sender: peer, to: [peer], bytes: 0 });
  }

  #add(room: Room, broadcast: Broadcast): void {
    const { event, history, sender, to } = broadcast;
    const lane = this.#lanes.get(room) ?? new RoomLane(room, this.#hand, (over) => this.#over(room, over));
    lane.waiting.push(broadcast);
    if (!this.#turns.run(lane)) return;
    this.#lanes.set(room, lane);
    const joined = joinedBy(event, room);
    if (joined) lane.newcomers.add(joined);
    sender?.facts.link.hold();
    broadcast.bytes = broadcastBytes + (event ? sizeOf(event) : 0) + referenceBytes * (history.length + (to?.length ?? 0));
    this.#turns.wait(lane, broadcast.bytes);
  }

  #over(room: Room, { bytes, sender }: Broadcast): void {
    if (bytes > 0) sender?.facts.link.release();
    this.#turns.waitNoMore(bytes);
    if (this.#lanes.get(room)?.isEmpty) this.#lanes.delete(room);
  }

  /** To one. What a peer of another instance sends stays behind what waits in a room that both are in, such as the news that it has joined. */
  send(peer: Peer, event: PeerEvent): void {
    const lane = this.#lanes.size > 0 && "from" in event ? this.#laneOfBoth(peer, event.from) : undefined;
    if (lane) this.tell(lane.room, event, undefined, [peer]);
    else this.#hand(peer, event);
  }

  #laneOfBoth(peer: Peer, from: string): RoomLane | undefined {
    for (const room of peer.rooms) {
      const lane = this.#lanes.get(room);
      if (lane?.room.members.get(from)?.isElsewhere) return lane;
    }
    return undefined;
  }

  left(peer: Peer, room: Room): void {
    this.#lanes.get(room)?.newcomers.delete(peer);
  }

  /** What waits is delivered to nobody. */
  close(): void {
    this.#turns.close();
    this.#lanes.clear();
  }
}

/** What waits for the members of one room. */
class RoomLane implements DeliveryLane {
  readonly room: Room;
  /** The oldest first. */
  readonly waiting: Broadcast[] = [];
  /** They have joined behind what waits: it is not for them. */
  readonly newcomers = new Set<Peer>();
  /** Of the first one: those that are still to get it. */
  #receivers: Iterator<Peer> | undefined;
  readonly #hand: (peer: Peer, event: PeerEvent) => void;
  readonly #over: (broadcast: Broadcast) => void;

  constructor(room: Room, hand: (peer: Peer, event: PeerEvent) => void, over: (broadcast: Broadcast) => void) {
    this.room = room;
    this.#hand = hand;
    this.#over = over;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  step(): boolean {
    const broadcast = this.waiting[0] as Broadcast;
    const { event, sender, to } = broadcast;
    if (!this.#receivers) {
      const joined = joinedBy(event, this.room);
      if (joined) this.newcomers.delete(joined);
      this.#receivers = (to ?? this.room.members).values();
    }
    const { done, value: receiver } = this.#receivers.next();
    if (done) {
      this.#receivers = undefined;
      this.waiting.shift();
      this.#over(broadcast);
      return false;
    }
    if (!event) this.#welcome(receiver, broadcast.history);
    else if (to || (receiver !== sender && !receiver.isElsewhere && !this.newcomers.has(receiver))) this.#hand(receiver, event);
    return true;
  }

  /** It hears of those that have joined and are not announced yet when they are. */
  #welcome(peer: Peer, history: readonly ChatEvent[]): void {
    const peers: Member[] = [];
    for (const other of this.room.members.values())
      if (other !== peer && !this.newcomers.has(other)) peers.push({ id: other.id, name: other.name });
    this.#hand(peer, { type: "joined", room: this.room.name, peers });
    for (const event of history) this.#hand(peer, { ...event, isHistory: true });
  }
}

const joinedBy = (event: PeerEvent | undefined, { members }: Room): Peer | undefined =>
  event?.type === "peer-joined" ? members.get(event.id) : undefined;

function sizeOf(event: PeerEvent): number {
  if (event.type === "signal") return memoryOf(event.signal.payload);
  return event.type === "chat" ? 2 * event.text.length : 0;
}
