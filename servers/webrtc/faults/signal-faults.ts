import type { FaultySignals, PeerFault } from "../../../contract/services/webrtc-faults.ts";
import type { ActiveFault, FaultRegistry } from "../../core/faults/fault-registry.ts";
import { seededRandom } from "../../core/traffic/seeded-random.ts";
import { resultOf, type WorkConnection } from "../../core/turns/work-connection.ts";
import type { LossReason } from "../signalling/held-deliveries.ts";
import type { PassingSignal, SignalPath } from "../signalling/signal-path.ts";
import type { DeliveryEffect, Signal } from "../signalling/signalling-event.ts";

const unaffected: readonly DeliveryEffect[] = [];

export interface SignalFaultsOptions {
  readonly faults: FaultRegistry<string, PeerFault>;
  /** In whose turns what was held back is delivered. */
  readonly work: WorkConnection;
  /** Held back at the same time, of all peers; more is dropped. */
  readonly mostHeldBytes: number;
}

interface Held {
  readonly dueMs: number;
  readonly bytes: number;
  readonly deliver: () => void;
  readonly lose: (why: LossReason) => void;
}

/** From one peer to another: signals that are delayed keep their order on it. */
interface Link {
  readonly from: string;
  readonly to: string;
  readonly held: Held[];
  /** Until the first one is due. */
  endWait: () => void;
  /** Waits for the signal that follows. */
  overtaken: Held | undefined;
  endOvertakenWait: () => void;
}

const noWait = (): void => {};

/** What waiting takes beside the signal: its event, its row, its place in the list, and the link where nothing else waits on it. */
const waitingBytes = 1_500;
/** A signal that nothing follows is not held for ever. */
const longestOvertakenMs = 2_000;

type Rule<Kind extends PeerFault["kind"]> = ActiveFault<Extract<PeerFault, { kind: Kind }>>;

/** Does to the signals from and to a peer what its faults say. What it holds back is bounded. */
export class SignalFaults implements SignalPath {
  readonly #options: SignalFaultsOptions;
  readonly #links = new Map<string, Link>();
  /** From and to it. */
  readonly #ofPeer = new Map<string, Set<Link>>();
  readonly #random = new WeakMap<object, () => number>();
  /** What was held of peers that have left. */
  readonly #lost: (() => void)[] = [];
  #heldBytes = 0;

  constructor(options: SignalFaultsOptions) {
    this.#options = options;
  }

  get isClear(): boolean {
    return this.#options.faults.isQuiet && this.#links.size === 0;
  }

  pass(signal: PassingSignal, deliver: () => void, lose: (why: LossReason) => void): readonly DeliveryEffect[] {
    const { faults } = this.#options;
    if (this.isClear) {
      deliver();
      return unaffected;
    }
    const rules = [...faults.listOf(signal.from), ...faults.listOf(signal.to)];
    const of = <Kind extends PeerFault["kind"]>(kind: Kind) =>
      rules.filter(({ fault }) => fault.kind === kind && concerns(fault, signal.kind)) as unknown as readonly Rule<Kind>[];
    if (of("drop").some((rule) => this.#isDrawn(rule))) return ["dropped"];
    const copies = 1 + of("duplicate").filter((rule) => this.#isDrawn(rule)).length;
    const delayMs = of("delay").reduce((sum, { fault }) => sum + fault.delayMs, 0);
    const effects: DeliveryEffect[] = [...(copies > 1 ? (["duplicated"] as const) : []), ...(delayMs > 0 ? (["delayed"] as const) : [])];
    const isOvertaken = of("reorder").some((rule) => this.#isDrawn(rule));
    const link = this.#links.get(keyOf(signal));
    if (!link && delayMs === 0 && !isOvertaken) {
      for (let copy = 0; copy < copies; copy++) deliver();
      return effects;
    }
    return this.#hold(link ?? this.#openLink(signal), signal, { delayMs, copies, isOvertaken, deliver, lose }, effects);
  }

  #hold(
    link: Link,
    { bytes }: PassingSignal,
    how: Pick<Held, "deliver" | "lose"> & { readonly delayMs: number; readonly copies: number; readonly isOvertaken: boolean },
    effects: readonly DeliveryEffect[],
  ): readonly DeliveryEffect[] {
    const cost = bytes() + waitingBytes;
    if (this.#heldBytes + cost > this.#options.mostHeldBytes) {
      this.#closeIfEmpty(link);
      return ["dropped"];
    }
    this.#heldBytes += cost;
    const deliver = () => {
      for (let copy = 0; copy < how.copies; copy++) how.deliver();
    };
    const now = performance.now();
    const dueMs = Math.max(link.held.at(-1)?.dueMs ?? 0, now + how.delayMs);
    const one: Held = { dueMs, bytes: cost, deliver, lose: how.lose };
    if (how.isOvertaken && !link.overtaken) {
      link.overtaken = one;
      link.endOvertakenWait = this.#options.work.wait(longestOvertakenMs, () => this.#releaseOvertaken(link));
      return [...effects, "reordered"];
    }
    link.held.push(one);
    this.#releaseOvertaken(link);
    this.#releaseDue(link);
    // No fault delays it but that of those before it.
    return dueMs > now && !effects.includes("delayed") ? [...effects, "delayed"] : effects;
  }

  /** Faults of these peers have begun or ended: what no fault holds any more is delivered. */
  refresh(peers: readonly string[]): void {
    void this.#options.work.run(this.#refreshed(peers));
  }

  *#refreshed(peers: readonly string[]): Generator<void, void> {
    for (const peer of peers)
      for (const link of [...(this.#ofPeer.get(peer) ?? [])]) {
        if (!this.#holdsBack(link, "reorder")) this.#releaseOvertaken(link);
        yield* this.#releases(link, () => !this.#holdsBack(link, "delay"));
      }
  }

  #holdsBack({ from, to }: Link, kind: PeerFault["kind"]): boolean {
    const { faults } = this.#options;
    return [from, to].some((peer) => faults.listOf(peer).some(({ fault }) => fault.kind === kind));
  }

  /** What is held for or of the peer is never delivered. It may be thousands, of each of which it is told: in turns. */
  forget(peer: string): void {
    for (const link of [...(this.#ofPeer.get(peer) ?? [])]) this.#drop(link, link.from === peer ? "sender left" : "receiver left");
    if (this.#lost.length > 0) void this.#options.work.run(this.#tellOfLost());
  }

  *#tellOfLost(): Generator<void, void> {
    for (let tell = this.#lost.shift(); tell; tell = this.#lost.shift()) {
      tell();
      yield;
    }
  }

  /** All peers have left. */
  stop(): void {
    for (const link of [...this.#links.values()]) this.#drop(link, "sender left");
    resultOf(this.#tellOfLost());
  }

  #openLink({ from, to }: PassingSignal): Link {
    const link: Link = { from, to, held: [], endWait: noWait, overtaken: undefined, endOvertakenWait: noWait };
    this.#links.set(keyOf(link), link);
    for (const peer of [from, to]) {
      const known = this.#ofPeer.get(peer);
      if (known) known.add(link);
      else this.#ofPeer.set(peer, new Set([link]));
    }
    return link;
  }

  #forgetLink(link: Link): void {
    this.#links.delete(keyOf(link));
    for (const peer of [link.from, link.to]) {
      const known = this.#ofPeer.get(peer);
      if (known?.delete(link) && known.size === 0) this.#ofPeer.delete(peer);
    }
  }

  #drop(link: Link, why: LossReason): void {
    link.endWait();
    link.endOvertakenWait();
    const lost = [...link.held.splice(0), ...(link.overtaken ? [link.overtaken] : [])];
    link.overtaken = undefined;
    this.#forgetLink(link);
    for (const { bytes, lose } of lost)
      this.#lost.push(() => {
        this.#heldBytes -= bytes;
        lose(why);
      });
  }

  #releaseOvertaken(link: Link): void {
    const { overtaken } = link;
    if (!overtaken) return;
    link.endOvertakenWait();
    link.overtaken = undefined;
    link.held.push({ ...overtaken, dueMs: Math.max(overtaken.dueMs, link.held.at(-1)?.dueMs ?? 0) });
    this.#releaseDue(link);
  }

  #releaseDue(link: Link): void {
    void this.#options.work.run(this.#releases(link, ({ dueMs }) => dueMs <= performance.now()));
  }

  /** The first ones, as long as they are due. */
  *#releases(link: Link, isDue: (held: Held) => boolean): Generator<void, void> {
    // To deliver one may end its peer, and with it the link.
    for (let first = link.held[0]; first && isDue(first); first = link.held[0]) {
      link.held.shift();
      this.#heldBytes -= first.bytes;
      first.deliver();
      yield;
    }
    const [next] = link.held;
    link.endWait();
    if (next) link.endWait = this.#options.work.wait(Math.max(1, next.dueMs - performance.now()), () => this.#releaseDue(link));
    else this.#closeIfEmpty(link);
  }

  #closeIfEmpty(link: Link): void {
    // Its peer may have left meanwhile, and come again.
    const isOpen = this.#links.get(keyOf(link)) === link;
    if (isOpen && link.held.length === 0 && !link.overtaken) this.#forgetLink(link);
  }

  #isDrawn(rule: ActiveFault<{ readonly percent: number }>): boolean {
    if (rule.seed === undefined) return Math.random() * 100 < rule.fault.percent;
    const known = this.#random.get(rule);
    const next = known ?? seededRandom(rule.seed);
    if (!known) this.#random.set(rule, next);
    return next() * 100 < rule.fault.percent;
  }
}

const keyOf = ({ from, to }: { readonly from: string; readonly to: string }): string => `${from}\n${to}`;

function concerns(fault: PeerFault, kind: Signal["kind"]): boolean {
  const which: FaultySignals = "signals" in fault ? fault.signals : "all";
  switch (which) {
    case "all":
      return true;
    case "descriptions":
      return kind === "offer" || kind === "answer";
    case "candidates":
      return kind === "candidate";
    default:
      return which satisfies never;
  }
}
