interface RefresherOptions {
  /** Handles its own failures. */
  readonly read: () => Promise<void>;
  /** The pause after a read is this multiple of the read's duration: slow answers are requested less often. */
  readonly restFactor?: number;
}

const longestRestMs = 10_000;
const shortestRestMs = 20;

/** Reads on request, never twice at once; a request during a read or a pause leads to one more read after it, so that no change is missed. */
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
