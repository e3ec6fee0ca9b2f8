/** Delays of restarts after crashes: they double, and after five crashes within a minute restarting stops. */
export interface BackOff {
  /** To be called at a crash: how long to wait before the next start, or undefined to give up. */
  next(): number | undefined;
  reset(): void;
}

const windowMs = 60_000;
const mostCrashes = 5;

export function createBackOff(firstMs: number, now: () => number = () => performance.now()): BackOff {
  let crashes: number[] = [];
  return {
    next() {
      const time = now();
      crashes = crashes.filter((at) => time - at < windowMs);
      crashes.push(time);
      return crashes.length >= mostCrashes ? undefined : firstMs * 2 ** (crashes.length - 1);
    },
    reset() {
      crashes = [];
    },
  };
}
