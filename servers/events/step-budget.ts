import { performance } from "node:perf_hooks";
import { systemCpuMs } from "../core/turns/thread-cpu.ts";
import type { EventStore } from "./store/event-store.ts";

const clockMs = systemCpuMs ?? (() => performance.now());
/** For which this thread had nothing to do but wait. */
const idleMs = () => performance.eventLoopUtilization().idle;

/**
 * The time that the steps of one answer may take. A file is read in this thread: its CPU time counts, so that the answer is as complete on a
 * busy machine. A database's server works elsewhere: the time counts for which this thread waits, and not what it does for others meanwhile.
 */
export class StepBudget {
  readonly #usedMs: () => number;
  #leftMs: number;

  constructor({ kind }: Pick<EventStore, "kind">, forMs: number) {
    this.#usedMs = kind === "sqlite" ? clockMs : idleMs;
    this.#leftMs = forMs;
  }

  /** A step of the store, after which there may be more. */
  async take<Result>(step: () => Promise<Result>): Promise<Result> {
    const before = this.#usedMs();
    const result = await step();
    this.#leftMs -= this.#usedMs() - before;
    return result;
  }

  /** Less than `reserveMs` is left. */
  isSpent(reserveMs = 0): boolean {
    return this.#leftMs < reserveMs;
  }
}
