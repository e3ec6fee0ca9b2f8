import { isSampleAgent } from "../../../contract/sample-traffic.ts";
import { candidatesOf, readCandidate, readCarriedSignal, readDescription } from "../../../contract/services/webrtc-description.ts";
import type { LadderAnswer, LadderSignal, RelatedDescriptions } from "../../../contract/services/webrtc-signals.ts";
import { outcomeOf, roomOf, type SignalOutcome } from "../observe/signal-outcome.ts";
import { type Hub, serviceId } from "../signalling/hub.ts";
import type { Peer } from "../signalling/peer.ts";
import type { SignalFact } from "../signalling/signalling-observer.ts";
import type { SentSignal } from "./ice-side.ts";

/** A message of a client as the recorder has it. */
export interface PassedSignal extends Omit<LadderSignal, "summary"> {
  /** As it came, in whichever dialect; empty for a kind of which nothing is read. */
  readonly message: string;
}

/** Of messages that are no signals, or are not understood, the content is not looked at: it may be large, and nobody asks for it. */
const isRead = (kind: SignalFact["kind"]): boolean => kind !== "join" && kind !== "leave" && kind !== "bad";

/** A message as the hub tells it. */
export function passedSignal(row: number, fact: SignalFact, at: number, hub: Pick<Hub, "find">): PassedSignal {
  const { kind, peer, to, raw } = fact;
  const { text: outcome, isLost } = outcomeOf(fact);
  const room = roomOf(fact, hub);
  return {
    row,
    at,
    kind,
    dialect: peer?.dialect ?? "service",
    from: peer?.id ?? serviceId,
    ...(to !== undefined && { to }),
    ...(room !== undefined && { room }),
    outcome,
    ...(isLost && { isLost }),
    ...(isSampleAgent(peer?.facts.userAgent ?? "") && { isSample: true as const }),
    bytes: raw.length,
    message: !isRead(kind) ? "" : typeof raw === "string" ? raw : Buffer.from(raw).toString("utf8"),
  };
}

export interface SignalHistoryLimits {
  readonly signals: number;
  /** Of all that is kept of them. */
  readonly bytes: number;
}

type EndedPeer = Pick<Peer, "id" | "dialect" | "rooms"> & { readonly facts: Pick<Peer["facts"], "userAgent"> };

/** For the ladder and the ICE check. */
export const keptSignals: SignalHistoryLimits = { signals: 20_000, bytes: 16 << 20 };

export interface KeptSignal {
  shown: LadderSignal;
  sent: SentSignal;
  readonly bytes: number;
}

export interface ListedSignals {
  readonly room?: string;
  readonly peers?: readonly string[];
  readonly withoutSample?: boolean;
  readonly limit: number;
}

const mostSummaryCharacters = 120;
/** Of an answer, in characters. */
const listedText = 1 << 20;
/** As long as a name of a peer or a room can be. */
const mostNameCharacters = 500;
/** What an entry costs beside its texts. */
const entryBytes = 400;

/** A copy: a mere slice would keep all of the text in memory. */
const cutText = (text: string, most: number): string => (text.length <= most ? text : Buffer.from(text.slice(0, most)).toString());

/** The newest signals of all peers, bounded in number and bytes, with what the peers called themselves. */
export class SignalHistory {
  readonly #limits: SignalHistoryLimits;
  readonly #nameOf: (peer: string) => string | undefined;
  /** Undefined before `#start`. */
  #kept: (KeptSignal | undefined)[] = [];
  /** The first one that is kept. */
  #start = 0;
  #bytes = 0;
  #total = 0;
  #settled = 0;
  readonly #names = new Map<string, string>();

  constructor(limits: SignalHistoryLimits, nameOf: (peer: string) => string | undefined) {
    this.#limits = limits;
    this.#nameOf = nameOf;
  }

  /** All that were added. */
  get total(): number {
    return this.#total;
  }

  /** Grows with each signal, and with what becomes of one that was held back, and of a peer. */
  get version(): number {
    return this.#total + this.#settled;
  }

  /** What has become in the end of one that was added while a fault held it back. */
  settle(kept: KeptSignal, { text: outcome, isLost }: Pick<SignalOutcome, "text" | "isLost">): void {
    kept.shown = { ...kept.shown, outcome, ...(isLost && { isLost }) };
    kept.sent = { ...kept.sent, ...(isLost && { lost: outcome }) };
    this.#settled++;
  }

  add({ message, to, room, ...more }: PassedSignal): KeptSignal {
    const { at, kind, from, outcome, isLost } = more;
    const signal = {
      ...more,
      ...(to !== undefined && { to: cutText(to, mostNameCharacters) }),
      ...(room !== undefined && { room: cutText(room, mostNameCharacters) }),
    };
    const carried = kind === "chat" || !isRead(kind) ? {} : readCarriedSignal(message);
    const text = carried.sdp ?? carried.candidate ?? "";
    const mid = carried.mid === undefined ? undefined : cutText(carried.mid, mostNameCharacters);
    const summary = cutText(signal.isEnd ? outcome : summaryOf(signal, carried, message), mostSummaryCharacters);
    const type = kind === "offer" || kind === "answer" || kind === "candidate" ? kind : "other";
    const kept = [text, from, signal.to, signal.room, mid, summary];
    const bytes = kept.reduce((sum, one) => sum + 2 * (one?.length ?? 0), entryBytes);
    const added: KeptSignal = {
      shown: { ...signal, summary },
      sent: { at, type, text, ...(mid !== undefined && { mid }), ...(isLost && { lost: outcome }) },
      bytes,
    };
    this.#kept.push(added);
    this.#bytes += bytes;
    this.#total++;
    for (const peer of [from, to]) if (peer) this.#noteName(peer);
    this.#evict();
    return added;
  }

  /** Its connection has ended; that of a peer in no room is no signal: nobody notices it. */
  noteEnd(row: number, { id, dialect, rooms, facts }: EndedPeer, outcome: string, at: number): void {
    const [room] = rooms;
    if (!room) {
      // Its signals are shown as those of one that has left.
      if (this.#names.has(id)) this.#settled++;
      return;
    }
    const end = { kind: "leave", dialect, from: id, room: room.name, outcome, isEnd: true, bytes: 0, message: "" } as const;
    this.add({ ...end, row, at, ...(isSampleAgent(facts.userAgent) && { isSample: true }) });
  }

  #noteName(peer: string): void {
    const name = this.#nameOf(peer);
    if (name !== undefined) this.#names.set(peer, name);
  }

  /** What was added of earlier runs: its names, and its order by time, which that of the records is not. */
  restored(names: ReadonlyMap<string, string>): void {
    for (const [peer, name] of names) this.#names.set(peer, name);
    this.#kept = this.#present().toSorted((one, other) => one.shown.at - other.shown.at);
    this.#start = 0;
  }

  #evict(): void {
    const { signals, bytes } = this.#limits;
    while (this.#kept.length - this.#start > signals || (this.#bytes > bytes && this.#kept.length - this.#start > 1)) {
      this.#bytes -= this.#kept[this.#start]?.bytes ?? 0;
      this.#kept[this.#start++] = undefined;
    }
    // Half of the array is free: cheap for each signal.
    if (this.#start < 1_024 || this.#start * 2 < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#start);
    this.#start = 0;
    const present = new Set(this.#present().flatMap(({ shown }) => [shown.from, shown.to ?? ""]));
    for (const peer of this.#names.keys()) if (!present.has(peer)) this.#names.delete(peer);
  }

  #present(): readonly KeptSignal[] {
    return this.#kept.slice(this.#start) as KeptSignal[];
  }

  list({ room, peers, withoutSample, limit }: ListedSignals): LadderAnswer {
    const found: LadderSignal[] = [];
    let more = 0;
    let text = 0;
    for (let index = this.#kept.length - 1; index >= this.#start; index--) {
      const { shown } = this.#kept[index] as KeptSignal;
      if ((withoutSample && shown.isSample) || !isListed(shown, room, peers)) continue;
      text += [shown.from, shown.to, shown.room, shown.outcome, shown.summary].reduce((sum, one) => sum + (one?.length ?? 0), 0);
      if (found.length < limit && text <= listedText) found.push(shown);
      else more++;
    }
    const ids = new Set(found.flatMap(({ from, to }) => [from, to ?? ""]));
    const names = new Map<string, string>();
    for (const id of ids) {
      const name = this.#nameOf(id) ?? this.#names.get(id);
      if (name) names.set(id, name);
    }
    const senders = new Set(found.map(({ from }) => from));
    return {
      signals: found.reverse(),
      more,
      names: Object.fromEntries(names),
      // One to whom something was sent in vain may never have been there.
      left: [...ids].filter((id) => this.#hasLeft(id) && (senders.has(id) || this.#names.has(id))),
      namesakes: this.#namesakes(names),
    };
  }

  #hasLeft(id: string): boolean {
    return id !== serviceId && this.#nameOf(id) === undefined;
  }

  /** Those of the named peers that share their name with another one that is known. */
  #namesakes(names: ReadonlyMap<string, string>): readonly string[] {
    const bearers = new Map<string, number>();
    for (const name of names.values()) bearers.set(name, (bearers.get(name) ?? 0) + 1);
    for (const [id, name] of this.#names) {
      const count = bearers.get(name);
      if (count !== undefined && !names.has(id)) bearers.set(name, count + 1);
    }
    return [...names].filter(([, name]) => (bearers.get(name) ?? 0) > 1).map(([id]) => id);
  }

  /** What one peer sent to the other, in order; what it sent to a room that both are in counts as well. */
  between(from: string, to: string): readonly SentSignal[] {
    return this.#present()
      .filter(({ shown, sent }) => shown.from === from && (shown.to === undefined || shown.to === to) && sent.type !== "other")
      .map(({ sent }) => sent);
  }

  related(row: number): RelatedDescriptions {
    const kept = this.#present().map(({ shown }) => shown);
    const at = kept.findIndex((one) => one.row === row);
    const description = kept[at];
    if (!description || !isDescription(description)) return {};
    const isBetween = (one: LadderSignal, from: string | undefined, to: string | undefined) =>
      one.from === from && (one.to === to || one.to === undefined || to === undefined);
    const { kind, from, to } = description;
    const previous = kept.slice(0, at).findLast((one) => isDescription(one) && isBetween(one, from, to));
    const isReply = (one: LadderSignal) => one.from !== from && (to === undefined || one.from === to) && (one.to ?? from) === from;
    const counterpart =
      kind === "answer"
        ? kept.slice(0, at).findLast((one) => one.kind === "offer" && isReply(one))
        : kept.slice(at + 1).find((one) => one.kind === "answer" && isReply(one));
    return { ...(counterpart && { counterpart: counterpart.row }), ...(previous && { previous: previous.row }) };
  }
}

const isDescription = ({ kind }: LadderSignal): boolean => kind === "offer" || kind === "answer";

function isListed({ from, to, room }: LadderSignal, wanted: string | undefined, peers: readonly string[] | undefined): boolean {
  if (wanted !== undefined && room !== wanted) return false;
  if (!peers) return true;
  const [one, other] = peers;
  if (other === undefined) return from === one || to === one;
  return (from === one && (to === other || to === undefined)) || (from === other && (to === one || to === undefined));
}

function summaryOf(
  { kind, room = "" }: Pick<LadderSignal, "kind" | "room">,
  { sdp, candidate }: ReturnType<typeof readCarriedSignal>,
  message: string,
): string {
  if (kind === "join" || kind === "leave") return room;
  if (sdp !== undefined) {
    const description = readDescription(sdp);
    if (!description) return "not readable";
    const kinds = description.media.map((section) => (section.kind === "application" ? "data" : section.kind));
    const candidates = candidatesOf(description).length;
    return [listOf(kinds), candidates > 0 ? `${candidates} candidate${candidates === 1 ? "" : "s"}` : ""].filter(Boolean).join(" · ");
  }
  if (candidate !== undefined) {
    const read = readCandidate(candidate);
    return read ? `${read.type} ${read.transport} ${read.address}:${read.port}` : "end of candidates";
  }
  return kind === "chat" ? chatText(message) : "";
}

/** "audio, 2 × video" */
const listOf = (kinds: readonly string[]): string =>
  [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => (length > 1 ? `${length} × ${kind}` : kind)).join(", ");

function chatText(message: string): string {
  try {
    const { text } = JSON.parse(message.slice(Math.max(0, message.search(/[[{]/)))) as { readonly text?: unknown };
    return typeof text === "string" ? text : "";
  } catch {
    return "";
  }
}
