const lookEveryMs = 5_000;
/** Share of one core below which the process counts as idle. */
const restPart = 0.03;
/** CPU time after which another collection is worth its 200 ms or so. */
const workedMs = 1_000;

export interface RestOptions {
  readonly collect: () => void;
  /** CPU time of the process so far. */
  readonly cpuMs?: () => number;
  readonly everyMs?: number;
}

/** Calls `collect` once the process is idle after work. The timer keeps no process alive; the returned function stops it. */
export function collectAtRest({ collect, cpuMs = ownCpuMs, everyMs = lookEveryMs }: RestOptions): () => void {
  let last = cpuMs();
  let worked = 0;
  const timer = setInterval(() => {
    const now = cpuMs();
    const spent = now - last;
    last = now;
    if (spent > everyMs * restPart) worked += spent;
    else if (worked >= workedMs) {
      worked = 0;
      collect();
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}

function ownCpuMs(): number {
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
