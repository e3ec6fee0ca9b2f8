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

export interface BroadcastFrom {
  /** In whose turns it is delivered; absent for what comes from other instances and from the service itself. */
  readonly by?: Peer | undefined;
  /** It does not get it, and is read no further until all have it. */
  readonly sender?: Peer | undefined;
  /** Absent where it is for all members that are connected here, but for the sender; which may be one of these. */
  readonly to?: readonly Peer[] | undefined;
  /** Their members get it by these. */
  readonly beside?: readonly Room[];
}

interface Broadcast extends BroadcastFrom {
  readonly event: PeerEvent;
}

/** What waits for the members of one room. */
interface RoomLane {
  readonly room: Room;
  readonly lane: BroadcastLane<Peer, Broadcast>;
  /** Since its lane is there: the number of the first message that is for them. The others have joined before. */
  readonly since: Map<Peer, number>;
  /** Those that the others are still to be told of. */
  readonly unannounced: Set<Peer>;
}

/**
 * Delivers what is for many in the turns of its sender, so that a large room delays nobody else. The members of a room get all in the same
 * order, in which addresses and their connections take turns. A sender is held meanwhile, so that at most one message of each client waits.
 */
export class RoomBroadcasts {
  readonly #hand: (peer: Peer, event: PeerEvent) => void;
  readonly #atOnce: (peer: Peer, send: () => void) => void;
  readonly #cutOff: (peer: Peer) => void;
  /** Those in which something waits. */
  readonly #lanes = new Map<JoinedRoom, RoomLane>();
  readonly #memory = new BroadcastMemory();
  readonly #turns: WorkTurns;
  readonly #senders = new WeakMap<Peer, WorkConnection>();
  /** Of those that join again. */
  readonly #again = new WeakMap<Peer, WorkConnection>();
  /** What comes from other instances and from the service itself. */
  readonly #service: WorkConnection;
  #isClosed = false;

  /**
   * `hand` brings an event to one peer; it does not call back. What is sent in `atOnce` the peer gets at once, however long it is. `cutOff` ends one that
   * has sent most of what waits, when that is too much.
   */
  constructor(
    hand: (peer: Peer, event: PeerEvent) => void,
    atOnce: (peer: Peer, send: () => void) => void,
    cutOff: (peer: Peer) => void,
    turns = new WorkTurns(),
  ) {
    this.#hand = hand;
    this.#atOnce = atOnce;
    this.#cutOff = cutOff;
    this.#turns = turns;
    this.#service = turns.connection("");
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  tell(room: Room, event: PeerEvent, from: BroadcastFrom = {}): void {
    const { by, sender } = from;
    const known = this.#lanes.get(room);
    const roomLane = known ?? this.#laneOf(room);
    const { lane, since, unannounced } = roomLane;
    const joined = joinedBy(event, room);
    if (joined) {
      since.set(joined, lane.sent);
      unannounced.add(joined);
    }
    const told = lane.send({ ...from, event }, this.workOf(sender ?? by));
    if (!told) return;
    if (!known) this.#lanes.set(room, roomLane);
    sender?.facts.link.hold();
    void told.then(() => {
      sender?.facts.link.release();
      if (lane.isEmpty && this.#lanes.get(room) === roomLane) this.#lanes.delete(room);
    });
  }

  /**
   * To a member that has just joined: who is there, and what was said. At once, whatever waits in the room: none of that is for it, and it knows those that
   * the others are still to be told of.
   */
  welcome(room: Room, peer: Peer, history: readonly ChatEvent[]): void {
    this.#atOnce(peer, () => {
      this.#hand(peer, { type: "joined", room: room.name, peers: room.list.without((other) => other === peer) });
      for (const event of history) this.#hand(peer, { ...event, isHistory: true });
    });
  }

  /** To a member that joins once more. It comes behind the work for those who ask for less, and has those that the member knows already. */
  welcomeAgain(room: Room, peer: Peer): void {
    const { link } = peer.facts;
    link.hold();
    const welcome = oneStep(() => {
      if (this.#isClosed || room.members.get(peer.id) !== peer) return;
      const lane = this.#lanes.get(room);
      const first = lane?.since.get(peer) ?? 0;
      const isUnknown = (other: Peer) => lane?.unannounced.has(other) === true && (lane.since.get(other) ?? 0) >= first;
      const peers = room.list.without((other) => other === peer || isUnknown(other));
      this.#atOnce(peer, () => this.#hand(peer, { type: "joined", room: room.name, peers }));
    });
    const connection = this.#again.get(peer) ?? this.#turns.background(remoteHostOf(peer));
    this.#again.set(peer, connection);
    void connection.run(welcome).finally(() => link.release());
  }

  /** In whose turns is done what a peer asks for; of none that is connected here, those of the service. */
  workOf(by: Peer | undefined): WorkConnection {
    if (!by || by.isElsewhere) return this.#service;
    let connection = this.#senders.get(by);
    if (!connection) {
      connection = this.#turns.connection(remoteHostOf(by));
      this.#senders.set(by, connection);
    }
    return connection;
  }

  #laneOf(room: Room): RoomLane {
    const since = new Map<Peer, number>();
    const unannounced = new Set<Peer>();
    const lane = new BroadcastLane<Peer, Broadcast>({
      memory: this.#memory,
      receivers({ event, to }) {
        const joined = joinedBy(event, room);
        if (joined) unannounced.delete(joined);
        return (to ?? room.members).values();
      },
      deliver: (receiver, { event, sender, to, beside }, number) => {
        if (this.#isClosed) return;
        const isFor = receiver !== sender && !receiver.isElsewhere && number >= (since.get(receiver) ?? 0);
        if (to || (isFor && !beside?.some(({ members }) => members.has(receiver.id)))) this.#hand(receiver, event);
      },
      bytesOf: ({ event, to }) => broadcastBytes + sizeOf(event) + referenceBytes * (to?.length ?? 0),
      lost: ({ event, sender }) => {
        const joined = joinedBy(event, room);
        if (joined) unannounced.delete(joined);
        if (sender && !sender.isElsewhere) this.#cutOff(sender);
      },
    });
    return { room, lane, since, unannounced };
  }

  /** To one. What a peer of another instance sends stays behind what waits in a room that both are in, such as the news that it has joined. */
  send(peer: Peer, event: PeerEvent): void {
    const room = this.#lanes.size > 0 && "from" in event ? this.#roomOfBoth(peer, event.from) : undefined;
    if (room) this.tell(room, event, { to: [peer] });
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
    const lane = this.#lanes.get(room);
    lane?.since.delete(peer);
    lane?.unannounced.delete(peer);
  }

  /** What waits is delivered to nobody. */
  close(): void {
    this.#isClosed = true;
    this.#lanes.clear();
  }
}

const joinedBy = (event: PeerEvent, { members }: Room): Peer | undefined =>
  event.type === "peer-joined" ? members.get(event.id) : undefined;

function sizeOf(event: PeerEvent): number {
  if (event.type === "signal") return memoryOf(event.signal.payload);
  return event.type === "chat" ? 2 * event.text.length : 0;
}
