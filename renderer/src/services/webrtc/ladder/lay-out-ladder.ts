import type { LadderSignal } from "../../../../../contract/services/webrtc-signals.ts";

/** A line from top to bottom: a peer, or several of one name that were not there at the same time, the service, or the peers that have none of their own. */
export interface Lane {
  /** The identifier of the last peer that had it, `serviceLane`, or `othersLane` for the rest. */
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

/** A peer of a crowd that was not concerned by the last ones gives its lane to one that was. */
const activeSignals = 60;

export interface LadderOptions {
  /** In the order in which they came. */
  readonly signals: readonly LadderSignal[];
  /** At least two. */
  readonly mostLanes: number;
  /** Successive candidates of one peer for another are one rung. */
  readonly foldsCandidates: boolean;
  /** What peers call themselves: one that comes back gets its line again. */
  readonly names?: Readonly<Record<string, string>>;
  /** The peers that had a lane of their own before. They keep it while they are active, so that lanes do not move with each signal of a crowd. */
  readonly before?: readonly string[];
}

/**
 * Each peer has a lane, in the order in which they first appear. Where there are more peers than lanes, one that came back under its name
 * shares the lane that it had; where that does not suffice, the newest have lanes and the rest shares the last one.
 */
export function layOutLadder({ signals, mostLanes, foldsCandidates, names = {}, before = [] }: LadderOptions): LaidOutLadder {
  const spans = spansOf(signals);
  const wasShown = new Set(before);
  const keeps = ({ id, last }: Span) => wasShown.has(id) && last >= signals.length - activeSignals;
  const ranked = spans.toSorted((one, other) => Number(keeps(other)) - Number(keeps(one)) || other.last - one.last);
  const { lanes, places } = lanesOf(spans, ranked, Math.max(2, mostLanes), names);
  const others = lanes.findIndex(({ id }) => id === othersLane);
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
      to: (to === undefined ? distinct(members.besides(room, from).map(placeOf)) : [placeOf(to)]).filter((place) => place >= 0),
    });
  }
  return { lanes, rungs };
}

const distinct = (places: readonly number[]): readonly number[] => [...new Set(places)].sort((one, other) => one - other);

/** Who is in which room, as joins and leaves tell. */
class RoomMembers {
  readonly #rooms = new Map<string, Set<string>>();

  note({ kind, from, room, isEnd }: LadderSignal): void {
    if (isEnd) {
      for (const members of this.#rooms.values()) members.delete(from);
      return;
    }
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

/** From the first to the last signal of a peer, as places in the list. */
interface Span {
  readonly id: string;
  readonly first: number;
  last: number;
}

/** In the order of the first signal. */
function spansOf(signals: readonly LadderSignal[]): readonly Span[] {
  const spans = new Map<string, Span>();
  for (const [place, { from, to }] of signals.entries()) {
    for (const id of to === undefined ? [from] : [from, to]) {
      const span = spans.get(id);
      if (span) span.last = place;
      else spans.set(id, { id, first: place, last: place });
    }
  }
  return [...spans.values()];
}

interface OpenLane {
  readonly spans: Span[];
  readonly name: string | undefined;
}

/** `ranked`: those who get a lane first. */
function lanesOf(
  spans: readonly Span[],
  ranked: readonly Span[],
  most: number,
  names: Readonly<Record<string, string>>,
): { readonly lanes: readonly Lane[]; readonly places: ReadonlyMap<string, number> } {
  if (spans.length <= most) {
    return { lanes: spans.map(({ id }) => ({ id, peers: 1 })), places: new Map(spans.map(({ id }, place) => [id, place])) };
  }
  const all = shareLanes(ranked, most, names);
  const { open, rest } = all.rest === 0 ? all : shareLanes(ranked, most - 1, names);
  const named = open.map(({ spans: own }) => ({ own, head: own.reduce((newest, span) => (span.last > newest.last ? span : newest)) }));
  named.sort((one, other) => one.head.first - other.head.first);
  const places = new Map(named.flatMap(({ own }, place) => own.map(({ id }) => [id, place] as const)));
  const lanes = named.map(({ own, head }) => ({ id: head.id, peers: own.length }));
  return { lanes: rest === 0 ? lanes : [...lanes, { id: othersLane, peers: rest }], places };
}

/** Gives each peer in turn a lane: that of one with the same name at another time, or an empty one. */
function shareLanes(
  ranked: readonly Span[],
  most: number,
  names: Readonly<Record<string, string>>,
): { readonly open: readonly OpenLane[]; readonly rest: number } {
  const open: OpenLane[] = [];
  let rest = 0;
  for (const span of ranked) {
    const name = names[span.id];
    // Never that of a peer with another name: its head would be over arrows that are not its own.
    const lane = open.find((one) => name !== undefined && one.name === name && one.spans.every((other) => isApart(other, span)));
    if (lane) lane.spans.push(span);
    else if (open.length < most) open.push({ spans: [span], name });
    else rest++;
  }
  return { open, rest };
}

/** The messages of the dashboard share their line with nobody. */
const isApart = (one: Span, other: Span): boolean =>
  one.id !== serviceLane && other.id !== serviceLane && (one.last < other.first || other.last < one.first);
