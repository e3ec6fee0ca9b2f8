import type { LadderSignal } from "../../../../../contract/services/webrtc-signals.ts";

/** A line from top to bottom: a peer, the service, or the peers that have none of their own. */
export interface Lane {
  /** The identifier of a peer, `serviceLane`, or `othersLane` for the rest. */
  readonly id: string;
  /** How many peers share it. */
  readonly peers: number;
}

export const othersLane = "*";
/** Of messages of the dashboard. */
export const serviceLane = "service";

/** An arrow, or several candidates of one peer for another as one. */
export interface Rung {
  /** Of its first signal. */
  readonly row: number;
  readonly at: number;
  /** Places of lanes. */
  readonly from: number;
  /** Where its heads are: of a message to a room those of its members. Equal to `from` between two of the others, empty where nobody else is concerned. */
  readonly to: readonly number[];
  readonly signals: readonly LadderSignal[];
  /** Since the rung before; undefined of the first. */
  readonly afterMs: number | undefined;
}

export interface LaidOutLadder {
  readonly lanes: readonly Lane[];
  readonly rungs: readonly Rung[];
}

export interface LadderOptions {
  /** In the order in which they came. */
  readonly signals: readonly LadderSignal[];
  /** At least two. */
  readonly mostLanes: number;
  /** Successive candidates of one peer for another are one rung. */
  readonly foldsCandidates: boolean;
}

/** The busiest peers get a lane each, in the order in which they first appear; the others share the last one. */
export function layOutLadder({ signals, mostLanes, foldsCandidates }: LadderOptions): LaidOutLadder {
  const lanes = lanesOf(signals, Math.max(2, mostLanes));
  const places = new Map(lanes.map(({ id }, place) => [id, place]));
  const others = places.get(othersLane) ?? 0;
  const placeOf = (peer: string) => places.get(peer) ?? others;
  const members = new RoomMembers();
  const rungs: Rung[] = [];
  let open: { readonly signals: LadderSignal[]; readonly from: string; readonly to: string | undefined } | undefined;
  for (const signal of signals) {
    const { kind, from, to, room, row, at, isLost } = signal;
    if (!isLost) members.note(signal);
    const folds = foldsCandidates && kind === "candidate" && !isLost;
    if (folds && open?.from === from && open.to === to) {
      open.signals.push(signal);
      continue;
    }
    const own = [signal];
    open = folds ? { signals: own, from, to } : undefined;
    const source = placeOf(from);
    const last = rungs.at(-1);
    rungs.push({
      row,
      at,
      from: source,
      signals: own,
      afterMs: last && at - (last.signals.at(-1)?.at ?? last.at),
      to: to === undefined ? distinct(members.besides(room, from).map(placeOf)) : [placeOf(to)],
    });
  }
  return { lanes, rungs };
}

const distinct = (places: readonly number[]): readonly number[] => [...new Set(places)].sort((one, other) => one - other);

/** Who is in which room, as joins and leaves tell. */
class RoomMembers {
  readonly #rooms = new Map<string, Set<string>>();

  note({ kind, from, room }: LadderSignal): void {
    if (room === undefined || (kind !== "join" && kind !== "leave")) return;
    const members = this.#rooms.get(room) ?? new Set();
    this.#rooms.set(room, members);
    if (kind === "join") members.add(from);
    else members.delete(from);
  }

  besides(room: string | undefined, peer: string): readonly string[] {
    return [...(this.#rooms.get(room ?? "") ?? [])].filter((member) => member !== peer);
  }
}

function lanesOf(signals: readonly LadderSignal[], most: number): readonly Lane[] {
  /** In the order of their first signal. */
  const counts = new Map<string, number>();
  const count = (id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const { from, to } of signals) {
    count(from);
    if (to !== undefined) count(to);
  }
  if (counts.size <= most) return [...counts.keys()].map((id) => ({ id, peers: 1 }));
  const busiest = [...counts].sort(([, one], [, other]) => other - one).slice(0, most - 1);
  const own = new Set(busiest.map(([id]) => id));
  return [
    ...[...counts.keys()].filter((id) => own.has(id)).map((id) => ({ id, peers: 1 })),
    { id: othersLane, peers: counts.size - own.size },
  ];
}
