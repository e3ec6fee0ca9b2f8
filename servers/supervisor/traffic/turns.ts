/** Work in steps, such as a generator; it can be interrupted between two steps. */
export type Steps<Result> = Iterator<void, Result>;

export interface Turns {
  /** Runs the steps in slices, round-robin over the callers; the work of each caller is done in order. */
  run<Result>(caller: unknown, steps: Steps<Result>): Promise<Awaited<Result>>;
}

interface Job {
  /** True when it is done. */
  step(): boolean;
}

/** Longest duration of a slice. */
const sliceMs = 4;

export function createTurns(): Turns {
  const waiting = new Map<unknown, Job[]>();
  let scheduled = false;

  function schedule() {
    if (scheduled) return;
    scheduled = true;
    setImmediate(runSlice);
  }

  function runSlice() {
    scheduled = false;
    const endAt = performance.now() + sliceMs;
    for (const [caller, jobs] of waiting) {
      // This caller is queued again behind the others.
      waiting.delete(caller);
      let isDone = false;
      do {
        isDone = jobs[0]?.step() ?? true;
        if (isDone) jobs.shift();
      } while (performance.now() < endAt && !isDone);
      if (jobs.length > 0) waiting.set(caller, jobs);
      if (performance.now() >= endAt) break;
    }
    if (waiting.size > 0) schedule();
  }

  return {
    run: (caller, steps) =>
      new Promise((resolve, reject) => {
        const step = () => {
          try {
            const { done, value } = steps.next();
            if (done) resolve(value as Awaited<typeof value>);
            return done === true;
          } catch (error) {
            reject(error);
            return true;
          }
        };
        const jobs = waiting.get(caller) ?? [];
        jobs.push({ step });
        waiting.set(caller, jobs);
        schedule();
      }),
  };
}

/**
 * Does as many steps at each call as a slice has time for, and the rest in later turns of the event loop. `step` returns true when none is
 * left.
 */
export function createSlices(step: () => boolean): () => void {
  let later: NodeJS.Immediate | undefined;
  function run(): void {
    clearImmediate(later);
    const endAt = performance.now() + sliceMs;
    while (!step()) {
      if (performance.now() < endAt) continue;
      later = setImmediate(run);
      return;
    }
  }
  return run;
}
