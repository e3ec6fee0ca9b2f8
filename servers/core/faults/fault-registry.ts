import { ServiceError } from "../service/service-error.ts";

export interface FaultStart<Fault> {
  readonly fault: Fault;
  /** Without it, until it is released. */
  readonly forMs?: number;
  /** The same choices at random for the same seed. */
  readonly seed?: string;
}

export interface ActiveFault<Fault> {
  readonly fault: Fault;
  /** Milliseconds since the epoch; infinite where it lasts until it is released. */
  readonly until: number;
  readonly seed: string | undefined;
}

interface TimedFault<Fault> extends ActiveFault<Fault> {
  readonly timer: NodeJS.Timeout | undefined;
}

const mostTargets = 10_000;
/** In a turn of the event loop: a hundred thousand may end at the same moment. */
const mostEnds = 200;

/** What goes wrong on demand: of each target, by its name or itself, one fault of a kind, perhaps for a time. */
export class FaultRegistry<Target, Fault extends { readonly kind: string }> {
  /** Changes whenever a fault begins or ends, so that readers look only then. */
  version = 0;
  readonly #byTarget = new Map<Target, Map<string, TimedFault<Fault>>>();
  #listener: () => void = () => {};
  #carryOut: (target: Target) => void = () => {};
  #telling: NodeJS.Immediate | undefined;
  /** Those whose time is over. */
  #due: (() => void)[] = [];
  #ending: NodeJS.Immediate | undefined;

  /** There is no fault at all. */
  get isQuiet(): boolean {
    return this.#byTarget.size === 0;
  }

  /** Called once for all changes of a turn of the event loop: thousands may end at once. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Called at once for each target whose faults have changed. */
  onTarget(carryOut: (target: Target) => void): void {
    this.#carryOut = carryOut;
  }

  #changed(target: Target): void {
    this.version++;
    this.#carryOut(target);
    this.#telling ??= setImmediate(() => {
      this.#telling = undefined;
      this.#listener();
    });
  }

  /** Replaces one of the same kind. Throws a ServiceError where there are too many. */
  start(target: Target, { fault, forMs, seed }: FaultStart<Fault>): void {
    this.stop(target, fault.kind);
    const known = this.#byTarget.get(target);
    if (!known && this.#byTarget.size >= mostTargets)
      throw new ServiceError("CALL_INVALID", `${mostTargets} others have faults already`, "Release some of them.");
    const ofTarget = known ?? new Map<string, TimedFault<Fault>>();
    const end = () => {
      // Another one may have begun meanwhile.
      if (timer && this.#byTarget.get(target)?.get(fault.kind)?.timer === timer) this.stop(target, fault.kind);
    };
    const timer = forMs === undefined ? undefined : setTimeout(() => this.#endInTurn(end), forMs);
    ofTarget.set(fault.kind, { fault, seed, until: forMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + forMs, timer });
    this.#byTarget.set(target, ofTarget);
    this.#changed(target);
  }

  #endInTurn(end: () => void): void {
    this.#due.push(end);
    this.#ending ??= setImmediate(() => this.#endDue());
  }

  #endDue(): void {
    const ends = this.#due.splice(0, mostEnds);
    this.#ending = this.#due.length > 0 ? setImmediate(() => this.#endDue()) : undefined;
    for (const end of ends) end();
  }

  /** Ends one, or all of a target. False where there was none. */
  stop(target: Target, kind?: Fault["kind"]): boolean {
    const ofTarget = this.#byTarget.get(target);
    const ended = [...(ofTarget?.values() ?? [])].filter(({ fault }) => kind === undefined || fault.kind === kind);
    for (const { fault, timer } of ended) {
      clearTimeout(timer);
      ofTarget?.delete(fault.kind);
    }
    if (ofTarget?.size === 0) this.#byTarget.delete(target);
    if (ended.length > 0) this.#changed(target);
    return ended.length > 0;
  }

  stopAll(): void {
    for (const target of [...this.#byTarget.keys()]) this.stop(target);
  }

  /** Of the target alone. */
  listOf(target: Target): readonly ActiveFault<Fault>[] {
    return [...(this.#byTarget.get(target)?.values() ?? [])];
  }

  /** The first ones, in the order in which they began. */
  list(most = Number.POSITIVE_INFINITY): readonly { readonly target: Target; readonly faults: readonly ActiveFault<Fault>[] }[] {
    const listed: { target: Target; faults: readonly ActiveFault<Fault>[] }[] = [];
    for (const [target, faults] of this.#byTarget) {
      if (listed.length >= most) break;
      listed.push({ target, faults: [...faults.values()] });
    }
    return listed;
  }
}
