import type { Tone } from "../../../contract/traffic/row.ts";
import type { BodyBudget } from "../../core/http/connections/body-budget.ts";
import { createClientNames } from "../../core/http/messages/client-name.ts";
import { durationText } from "../../core/http/record/http-log-line.ts";
import type { Log } from "../../core/service/log.ts";
import type { TrafficSink } from "../../core/service/service.ts";
import { type Hub, serviceStops } from "../signalling/hub.ts";
import type { Peer } from "../signalling/peer.ts";
import type { EndedBy, SignalFact, SignallingObserver } from "../signalling/signalling-observer.ts";
import { PeerEntry } from "./peer-entry.ts";
import { SignalEntry } from "./signal-entry.ts";
import { outcomeOf, roomOf } from "./signal-outcome.ts";

export interface SignallingRecorderOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  /** Bytes that are kept of each message. */
  readonly messageLimit: number;
  readonly messageBudget?: BodyBudget | undefined;
  readonly hub: Pick<Hub, "find">;
  /** With its row, and why its connection ended. */
  readonly onLeft?: (peer: Peer, row: number, reason: string, at: number) => void;
  /** Each message with its row. */
  readonly onRecorded?: (row: number, fact: SignalFact, at: number) => void;
}

/** Rows and log lines of signalling. */
export class SignallingRecorder implements SignallingObserver {
  readonly #options: SignallingRecorderOptions;
  readonly #clientNameOf = createClientNames();
  readonly #entries = new Map<Peer, PeerEntry>();
  /** Counts of these have changed. */
  readonly #active = new Set<PeerEntry>();
  /** Their rooms change after the message was recorded. */
  readonly #changed = new Set<PeerEntry>();

  constructor(options: SignallingRecorderOptions) {
    this.#options = options;
  }

  rowOf(peer: Peer): number {
    return this.#entries.get(peer)?.id ?? 0;
  }

  onConnected(peer: Peer): void {
    const { traffic, log } = this.#options;
    const entry = new PeerEntry(traffic.nextId(), peer, this.#clientNameOf(peer.facts.userAgent));
    this.#entries.set(peer, entry);
    traffic.touch(entry);
    if (log.enabled("debug")) log.debug(`${peer.dialect} peer ${oneLine(peer.id)} connected from ${peer.facts.connection.remote}`);
  }

  onDisconnected(peer: Peer, reason: string, by: EndedBy): void {
    const { traffic, log } = this.#options;
    const entry = this.#entries.get(peer);
    if (!entry) return;
    this.#entries.delete(peer);
    const at = Date.now();
    this.#options.onLeft?.(peer, entry.id, reason, at);
    this.#active.delete(entry);
    const tone = toneOf(reason, by);
    entry.end(reason, tone, at);
    traffic.end(entry);
    const level = tone === "failed" ? "warning" : "info";
    if (!log.enabled(level)) return;
    const { connection } = peer.facts;
    log[level](
      `${peer.dialect} peer ${oneLine(peer.id)} ${reason} ${durationText(entry.totalMs)} ${peer.received} received ${peer.sent} sent ${entry.client || "-"} ${connection.remote}`,
    );
  }

  onMessage(fact: SignalFact): void {
    const { traffic, log, messageLimit, messageBudget, hub } = this.#options;
    const entry = fact.peer && this.#entries.get(fact.peer);
    const [row, at] = [traffic.nextId(), Date.now()];
    const receiverName = fact.to === undefined ? undefined : hub.find(fact.to)?.name;
    const signal = new SignalEntry(row, fact, {
      at,
      parent: entry,
      commonRoom: roomOf(fact, hub),
      receiverName,
      messageLimit,
      messageBudget,
    });
    if (signal.open) {
      traffic.touch(signal);
      fact.held?.whenOver(() => traffic.end(signal));
    } else traffic.end(signal);
    this.#options.onRecorded?.(row, fact, at);
    if (entry) {
      if (fact.kind === "join" || fact.kind === "leave") this.#changed.add(entry);
      this.#active.add(entry);
    }
    const level = fact.kind === "join" || fact.kind === "leave" || fact.refusal ? "info" : "debug";
    if (log.enabled(level)) log[level](logLine(fact));
  }

  /** Every second: counts of clients that have sent something, and where they are. */
  tick(): void {
    for (const entry of this.#changed) entry.changed();
    this.#changed.clear();
    for (const entry of this.#active) if (entry.open) this.#options.traffic.touch(entry);
    this.#active.clear();
  }
}

function toneOf(reason: string, by: EndedBy): Tone {
  if (reason === serviceStops) return "neutral";
  if (by === "server") return "failed";
  return reason === "the client left" ? "ok" : "neutral";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
const oneLine = (text: string): string => text.slice(0, 200).replace(/[\0-\x1f\x7f]/g, " ");

function logLine(fact: SignalFact): string {
  const { kind, peer, to, room, refusal, deliveries, effects = [] } = fact;
  const from = peer ? oneLine(peer.id) : "the dashboard";
  const target = to !== undefined ? ` to ${oneLine(to)}` : room === undefined ? "" : ` in ${oneLine(room)}`;
  const outcome = refusal
    ? `${refusal.code}: ${refusal.message}`
    : effects.length > 0 || fact.isElsewhere
      ? outcomeOf(fact).text
      : `delivered to ${deliveries}`;
  return `${kind === "bad" ? "bad message" : kind} of ${from}${target}, ${oneLine(outcome)}`;
}
