const lookEveryMs = 5_000;
/** Share of the time below which the process counts as idle: a client that asks often takes more, and would wait for the collection. */
const restPart = 0.01;
/** Nobody can make the others wait more often, by work and rest in turn. */
const leastBetweenMs = 60_000;
/** Work after which another collection is worth its 200 ms or so. */
const workedMs = 1_000;

export interface RestOptions {
  readonly collect: () => void;
  /** How long the process has worked, or waited for a processor, so far. */
  readonly activeMs?: () => number;
  readonly everyMs?: number;
}

/** Calls `collect` once the process is idle after work, at most once a minute. The timer keeps no process alive; the returned function stops it. */
export function collectAtRest({ collect, activeMs = ownActiveMs, everyMs = lookEveryMs }: RestOptions): () => void {
  let last = activeMs();
  let worked = 0;
  let sinceMs = Number.POSITIVE_INFINITY;
  const timer = setInterval(() => {
    const now = activeMs();
    const spent = now - last;
    last = now;
    sinceMs += everyMs;
    if (spent > everyMs * restPart) worked += spent;
    else if (worked >= workedMs && sinceMs >= leastBetweenMs) {
      worked = 0;
      sinceMs = 0;
      collect();
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/** Not the CPU time: a process that gets no processor would look idle. Under Electron the event loop does not know when it is idle. */
function ownActiveMs(): number {
  const { idle, active } = performance.eventLoopUtilization();
  if (idle > 0) return active;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * V8 keeps garbage until it needs the memory again, which an idle process never does: hundreds of megabytes after heavy load.
 * Undefined in a process that was started without --expose-gc.
 */
export function garbageCollector(): (() => void) | undefined {
  const { gc } = globalThis;
  // Only a "last resort" collection returns memory to the system. Deferred, so that it does not interrupt the current work.
  return gc && (() => void gc({ type: "major", execution: "async", flavor: "last-resort" }));
}
