import { memoryOf } from "../../core/limits/json-limits.ts";
import type { JoinedRoom, Peer } from "./peer.ts";
import type { Room } from "./room.ts";
import type { PeerEvent } from "./signalling-event.ts";

/** Most deliveries in one turn of the event loop, of all rooms. Large messages end a slice earlier. */
export const sliceDeliveries = 128;
const sliceMs = 2;
/** Of one room, before others have their share of the slice. */
const deliveriesInARow = 16;
/** Where more waits, as much is delivered at once: peers of other instances cannot be held. */
const mostWaitingBytes = 64 << 20;
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

/** What waits for the members of one room. */
interface Lane {
  readonly room: Room;
  /** The oldest first. */
  readonly waiting: Broadcast[];
  /** Of the first one: those that are still to get it. */
  receivers: Iterator<Peer> | undefined;
  /** They have joined behind what waits: it is not for them. */
  readonly newcomers: Set<Peer>;
}

/**
 * Delivers what is for many in slices, so that a large room delays nobody else. The members of a room get all in the same order; rooms take turns. A
 * sender is held meanwhile, so that at most one message of each client waits.
 */
export class RoomBroadcasts {
  readonly #hand: (peer: Peer, event: PeerEvent) => void;
  /** Those in which something waits, in the order of their turns. */
  readonly #lanes = new Map<JoinedRoom, Lane>();
  /** Of the present turn of the event loop. */
  #delivered = 0;
  #spentMs = 0;
  #turn: NodeJS.Immediate | undefined;
  #waitingBytes = 0;

  /** `hand` brings an event to one peer; it does not call back. */
  constructor(hand: (peer: Peer, event: PeerEvent) => void) {
    this.#hand = hand;
  }

  /** To all members that are connected here but the sender, or to some, which may include it. */
  tell(room: Room, event: PeerEvent, sender: Peer | undefined, to?: readonly Peer[]): void {
    const broadcast: Broadcast = { event, sender, to, bytes: 0 };
    const lane = this.#lanes.get(room) ?? { room, waiting: [], receivers: undefined, newcomers: new Set() };
    lane.waiting.push(broadcast);
    if (lane.waiting.length === 1) this.#deliver(lane, sliceDeliveries);
    this.#turn ??= setImmediate(() => this.#nextTurn());
    if (lane.waiting.length === 0) return;
    this.#lanes.set(room, lane);
    if (event.type === "peer-joined" && sender) lane.newcomers.add(sender);
    sender?.facts.link.hold();
    broadcast.bytes = broadcastBytes + sizeOf(event) + (to ? receiverBytes * to.length : 0);
    this.#waitingBytes += broadcast.bytes;
    while (this.#waitingBytes > mostWaitingBytes && lane.waiting.length > 0) this.#step(lane);
  }

  /** To one. What a peer of another instance sends stays behind what waits in a room that both are in, such as the news that it has joined. */
  send(peer: Peer, event: PeerEvent): void {
    const lane = this.#lanes.size > 0 && "from" in event ? this.#laneOfBoth(peer, event.from) : undefined;
    if (lane) this.tell(lane.room, event, undefined, [peer]);
    else this.#hand(peer, event);
  }

  #laneOfBoth(peer: Peer, from: string): Lane | undefined {
    for (const room of peer.rooms) {
      const lane = this.#lanes.get(room);
      if (lane?.room.members.get(from)?.isElsewhere) return lane;
    }
    return undefined;
  }

  left(peer: Peer, room: Room): void {
    this.#lanes.get(room)?.newcomers.delete(peer);
  }

  #nextTurn(): void {
    this.#turn = undefined;
    this.#delivered = 0;
    this.#spentMs = 0;
    for (const [room, lane] of this.#lanes) {
      if (!this.#hasTime()) break;
      this.#deliver(lane, deliveriesInARow);
      // Behind the others, and in this loop again when all have had their share.
      this.#lanes.delete(room);
      if (lane.waiting.length > 0) this.#lanes.set(room, lane);
    }
    if (this.#lanes.size > 0) this.#turn ??= setImmediate(() => this.#nextTurn());
  }

  #hasTime(): boolean {
    return this.#delivered < sliceDeliveries && this.#spentMs < sliceMs;
  }

  #deliver(lane: Lane, most: number): void {
    const start = performance.now() - this.#spentMs;
    for (let count = 0; count < most && lane.waiting.length > 0 && this.#hasTime(); count++) {
      if (this.#step(lane)) this.#delivered++;
      this.#spentMs = performance.now() - start;
    }
  }

  /** To the next one of those for whom the oldest is. False where there is nobody any more: then it no longer waits. */
  #step(lane: Lane): boolean {
    const broadcast = lane.waiting[0] as Broadcast;
    const { event, sender, to } = broadcast;
    if (!lane.receivers) {
      if (event.type === "peer-joined" && sender) lane.newcomers.delete(sender);
      lane.receivers = (to ?? lane.room.members).values();
    }
    const { done, value: receiver } = lane.receivers.next();
    if (done) {
      lane.receivers = undefined;
      lane.waiting.shift();
      if (broadcast.bytes > 0) sender?.facts.link.release();
      this.#waitingBytes -= broadcast.bytes;
      return false;
    }
    if (to || (receiver !== sender && !receiver.isElsewhere && !lane.newcomers.has(receiver))) this.#hand(receiver, event);
    return true;
  }

  /** What waits is delivered to nobody. */
  close(): void {
    clearImmediate(this.#turn);
    this.#lanes.clear();
  }
}

function sizeOf(event: PeerEvent): number {
  if (event.type === "signal") return memoryOf(event.signal.payload);
  return event.type === "chat" ? 2 * event.text.length : 0;
}
