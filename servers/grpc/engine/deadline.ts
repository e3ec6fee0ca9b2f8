import type { WorkConnection } from "../../core/turns/work-connection.ts";

const longestTimerMs = 0x7fff_ffff;

/** Calls back at `at`, in milliseconds since the epoch, in the turns of all. Returns the function that ends it before. */
export function startDeadline(at: number, work: Pick<WorkConnection, "wait">, onPassed: () => void): () => void {
  let end: () => void;
  function wait(): void {
    const leftMs = at - Date.now();
    // No timer can be longer, so that of a later deadline is set again.
    end = work.wait(Math.min(Math.max(leftMs, 0), longestTimerMs), leftMs > longestTimerMs ? wait : onPassed);
  }
  wait();
  return () => end();
}
