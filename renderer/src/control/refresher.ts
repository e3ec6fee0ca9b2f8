interface RefresherOptions {
  /** Handles its own failures. */
  readonly read: () => Promise<void>;
  /** After a read it rests so many times as long as the read took: what is slow to answer is asked less often. */
  readonly restFactor?: number;
}

const longestRestMs = 10_000;
const shortestRestMs = 20;

/** Reads when asked, never twice at once; asked during a read or a rest, once more after it, so that no change is missed. */
export function createRefresher({ read, restFactor = 0 }: RefresherOptions): () => Promise<void> {
  let isWanted = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (isWanted) {
      isWanted = false;
      const from = performance.now();
      await read();
      const restMs = Math.min(longestRestMs, restFactor * (performance.now() - from));
      if (restMs > shortestRestMs) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    running = undefined;
  };
  return () => {
    isWanted = true;
    running ??= run();
    return running;
  };
}
