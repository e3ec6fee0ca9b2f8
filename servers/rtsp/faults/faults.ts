import type { RtspActiveFault, RtspFault, RtspFaultKind } from "../../../contract/services/rtsp-faults.ts";
import { ServiceError } from "../../core/service/service-error.ts";

/** A session that can have faults of its own beside those of its path. */
export interface FaultySession {
  readonly path: string;
}

/** A path by its name, or a session. */
export type FaultTarget = string | FaultySession;

export interface ActiveFault extends RtspActiveFault {
  readonly seed: string | undefined;
}

interface TimedFault extends ActiveFault {
  readonly timer: NodeJS.Timeout;
}

export interface FaultStart {
  readonly fault: RtspFault;
  readonly forMs: number;
  readonly seed?: string;
}

const mostTargets = 10_000;

/** What goes wrong on demand, by path and by session, each for a time. */
export class Faults {
  /** Changes whenever a fault begins or ends, so that readers look only then. */
  version = 0;
  readonly #byTarget = new Map<FaultTarget, Map<RtspFaultKind, TimedFault>>();
  #listener: () => void = () => {};

  /** There is no fault at all. */
  get isQuiet(): boolean {
    return this.#byTarget.size === 0;
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  #changed(): void {
    this.version++;
    this.#listener();
  }

  /** Replaces one of the same kind. Throws a ServiceError where there are too many. */
  start(target: FaultTarget, { fault, forMs, seed }: FaultStart): void {
    this.stop(target, fault.kind);
    const known = this.#byTarget.get(target);
    if (!known && this.#byTarget.size >= mostTargets)
      throw new ServiceError("CALL_INVALID", `${mostTargets} paths and sessions have faults already`, "Release some of them.");
    const ofTarget = known ?? new Map<RtspFaultKind, TimedFault>();
    const timer = setTimeout(() => this.stop(target, fault.kind), forMs);
    ofTarget.set(fault.kind, { fault, seed, until: Date.now() + forMs, timer });
    this.#byTarget.set(target, ofTarget);
    this.#changed();
  }

  /** Ends one, or all of a target. False where there was none. */
  stop(target: FaultTarget, kind?: RtspFaultKind): boolean {
    const ofTarget = this.#byTarget.get(target);
    const ended = [...(ofTarget?.values() ?? [])].filter(({ fault }) => kind === undefined || fault.kind === kind);
    for (const { fault, timer } of ended) {
      clearTimeout(timer);
      ofTarget?.delete(fault.kind);
    }
    if (ofTarget?.size === 0) this.#byTarget.delete(target);
    if (ended.length > 0) this.#changed();
    return ended.length > 0;
  }

  stopAll(): void {
    for (const target of [...this.#byTarget.keys()]) this.stop(target);
  }

  /** Of the target alone. */
  listOf(target: FaultTarget): readonly ActiveFault[] {
    return [...(this.#byTarget.get(target)?.values() ?? [])];
  }

  list(): readonly { readonly target: FaultTarget; readonly faults: readonly ActiveFault[] }[] {
    return [...this.#byTarget].map(([target, faults]) => ({ target, faults: [...faults.values()] }));
  }

  ofPath(path: string): readonly ActiveFault[] {
    return this.isQuiet ? [] : this.listOf(path);
  }

  /** Its own and those of its path; of the same kind its own counts. */
  of(session: FaultySession): readonly ActiveFault[] {
    if (this.isQuiet) return [];
    const own = this.listOf(session);
    return [...own, ...this.listOf(session.path).filter(({ fault }) => own.every((other) => other.fault.kind !== fault.kind))];
  }
}
