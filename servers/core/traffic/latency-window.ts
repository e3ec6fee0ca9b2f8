const windowSize = 1_024;

export interface LatencyWindow {
  add(milliseconds: number): void;
  /** Percentile of the newest 1,024 values; undefined before the first. */
  percentile(part: number): number | undefined;
}

/** Keeps the latest durations: cheap to add to, sorted only when asked. */
export function createLatencyWindow(): LatencyWindow {
  const values = new Float64Array(windowSize);
  let added = 0;
  return {
    add(milliseconds) {
      values[added++ % windowSize] = milliseconds;
    },
    percentile(part) {
      const kept = Math.min(added, windowSize);
      if (kept === 0) return undefined;
      const sorted = values.slice(0, kept).sort();
      return sorted[Math.min(kept - 1, Math.floor(kept * part))];
    },
  };
}
