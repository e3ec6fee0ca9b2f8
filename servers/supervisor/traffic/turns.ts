/** Work in steps, such as a generator: between two of them it may be interrupted. */
export type Steps<Result> = Iterator<void, Result>;

export interface Turns {
  /** Runs the steps in slices, between which others have their turn: callers take turns, and each caller's work is done in order. */
  run<Result>(caller: unknown, steps: Steps<Result>): Promise<Awaited<Result>>;
}

interface Job {
  /** True once it is done. */
  step(): boolean;
}

/** How long one slice keeps the event loop. */
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
      // Whoever had a turn waits behind the others.
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
