const units: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, ms: 1, m: 60_000 };

/** "5s", "500ms", "1.5" (seconds) as milliseconds; undefined where it is none of these. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d+\.?\d*|\.\d+)(ms|s|m|)$/.exec(text);
  if (!match) return undefined;
  return Number(match[1]) * (units[match[2] ?? ""] ?? 1_000);
}
