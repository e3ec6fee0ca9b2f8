const longestTimerMs = 0x7fff_ffff;

/** Calls back at `at`, in milliseconds since the epoch. Returns the function that ends it before. */
export function startDeadline(at: number, onPassed: () => void): () => void {
  let timer: NodeJS.Timeout;
  function wait(): void {
    const leftMs = at - Date.now();
    // No timer can be longer, so that of a later deadline is set again.
    timer = setTimeout(leftMs > longestTimerMs ? wait : onPassed, Math.min(Math.max(leftMs, 0), longestTimerMs));
  }
  wait();
  return () => clearTimeout(timer);
}
