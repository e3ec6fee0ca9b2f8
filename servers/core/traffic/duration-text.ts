/** "<0.1 ms", "0.4 ms", "12 ms", "2.50 s". */
export function durationText(milliseconds: number): string {
  // "0.0 ms" would read as not measured.
  if (milliseconds < 0.05) return "<0.1 ms";
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
