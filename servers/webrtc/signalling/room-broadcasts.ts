import { memoryOf } from "../../core/limits/json-limits.ts";
import { type DeliveryLane, DeliveryTurns } from "../../core/streams/delivery-turns.ts";
import type { JoinedRoom, Peer } from "./peer.ts";
import type { Room } from "./room.ts";
import type { PeerEvent } from "./signalling-event.ts";

/** What a broadcast costs beside its content. */
const broadcastBytes = 200;
const receiverBytes = 8;

interface Broadcast {
  readonly event: PeerEvent;
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
    const broadcast: Broadcast = { event, sender, to, bytes: 0 };
    const lane = this.#lanes.get(room) ?? new RoomLane(room, this.#hand, (over) => this.#over(room, over));
    lane.waiting.push(broadcast);
    if (!this.#turns.run(lane)) return;
    this.#lanes.set(room, lane);
    if (event.type === "peer-joined" && sender) lane.newcomers.add(sender);
    sender?.facts.link.hold();
    broadcast.bytes = broadcastBytes + sizeOf(event) + (to ? receiverBytes * to.length : 0);
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
      if (event.type === "peer-joined" && sender) this.newcomers.delete(sender);
      this.#receivers = (to ?? this.room.members).values();
    }
    const { done, value: receiver } = this.#receivers.next();
    if (done) {
      this.#receivers = undefined;
      this.waiting.shift();
      this.#over(broadcast);
      return false;
    }
    if (to || (receiver !== sender && !receiver.isElsewhere && !this.newcomers.has(receiver))) this.#hand(receiver, event);
    return true;
  }
}

function sizeOf(event: PeerEvent): number {
  if (event.type === "signal") return memoryOf(event.signal.payload);
  return event.type === "chat" ? 2 * event.text.length : 0;
}
