/** A frame of the dashboard holds 1 MiB (contract/wire.ts); quoting JSON inside JSON makes it longer. */
const sentBytes = 900_000;

export type ReplayFile =
  | { readonly kind: "ready"; readonly lines: readonly string[]; readonly seconds: number; readonly leftOut: number }
  | { readonly kind: "wrong"; readonly problem: string };

/** Lines of an exported file, as many as can be sent at once. */
export function readReplayFile(text: string): ReplayFile {
  const all = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (all.length === 0) return { kind: "wrong", problem: "The file holds no line." };
  const lines: string[] = [];
  let bytes = 0;
  for (const line of all) {
    bytes += new TextEncoder().encode(JSON.stringify(line)).length + 1;
    if (bytes > sentBytes || lines.length === 50_000) break;
    lines.push(line);
  }
  const first = timeOf(all[0]);
  const last = timeOf(lines.at(-1));
  if (first === undefined || last === undefined) return { kind: "wrong", problem: "This is no file that Backlot exported." };
  return { kind: "ready", lines, seconds: Math.max(0, last - first) / 1_000, leftOut: all.length - lines.length };
}

function timeOf(line: string | undefined): number | undefined {
  try {
    const { at, topic } = JSON.parse(line ?? "");
    return typeof at === "number" && typeof topic === "string" ? at : undefined;
  } catch {
    return undefined;
  }
}
