const lookEveryMs = 5_000;
/** Of a core: below it the process rests. */
const restPart = 0.03;
/** CPU time since the last collection that is worth another, which takes some 200 ms. */
const workedMs = 1_000;

export interface RestOptions {
  readonly collect: () => void;
  /** Of the process so far. */
  readonly cpuMs?: () => number;
  readonly everyMs?: number;
}

/** Calls `collect` once the process rests after work. The timer keeps no process alive; the function that is given ends it. */
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
 * V8 keeps the garbage of a busy time until it needs the memory again, which at rest is never: hundreds of megabytes after a flood.
 * Undefined in a process that was started without --expose-gc.
 */
export function garbageCollector(): (() => void) | undefined {
  const { gc } = globalThis;
  // Only the last resort gives the memory back to the system; not within whatever runs now.
  return gc && (() => void gc({ type: "major", execution: "async", flavor: "last-resort" }));
}
