import type { LogLine } from "../../../contract/log.ts";

/** Lines that the window holds; the supervisor keeps more, and Save asks it for all of them. */
export const heldLogLines = 5_000;

export interface LogBuffer {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** Lines that came too fast to be shown; the supervisor keeps them. */
  readonly dropped: number;
}
export const emptyLogBuffer: LogBuffer = { lines: [], dropped: 0 };

/** Adds lines in order of `seq`; a line that is held already is not added again. */
export function appendLines(buffer: LogBuffer, lines: readonly LogLine[], dropped = 0): LogBuffer {
  const newest = buffer.lines.at(-1)?.seq ?? -1;
  const first = lines[0];
  if (!first) return dropped === 0 ? buffer : { ...buffer, dropped: buffer.dropped + dropped };
  const merged = first.seq > newest ? [...buffer.lines, ...lines] : mergeBySeq(buffer.lines, lines);
  return { lines: merged.length > heldLogLines ? merged.slice(-heldLogLines) : merged, dropped: buffer.dropped + dropped };
}

function mergeBySeq(held: readonly LogLine[], lines: readonly LogLine[]): LogLine[] {
  const bySeq = new Map<number, LogLine>();
  for (const line of held) bySeq.set(line.seq, line);
  for (const line of lines) bySeq.set(line.seq, line);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
