import { type LaidOutText, withoutSoftBreaks } from "./laid-out-text.ts";

type Change = "same" | "added" | "removed";
const changeCodes: Readonly<Record<Change, number>> = { same: 0, added: 1, removed: 2 };

/** More lines, not counting equal lines at both ends, are not compared: time grows with the product. */
const comparedLines = 1_500;

interface DiffLine {
  readonly change: Change;
  /** Index of the line: in the older text if it was removed, otherwise in the newer one. */
  readonly line: number;
}

/** The lines of `after`, with the removed lines of `before`; `after` alone if they are too many to compare. */
export function compareTexts(before: LaidOutText, after: LaidOutText): LaidOutText {
  const old = before.text.split("\n");
  const now = after.text.split("\n");
  const lines = diffLines(old, now);
  if (!lines) return { ...after, notes: [...after.notes, "Too long to compare."] };
  if (lines.every(({ change }) => change === "same")) return { ...after, changes: new Uint8Array(now.length) };
  return join(lines, { laidOut: before, lines: old, starts: startsOf(old) }, { laidOut: after, lines: now, starts: startsOf(now) });
}

/** A comma after a member does not count as a change. */
const keyOf = (line: string): string => (line.endsWith(",") ? line.slice(0, -1) : line);

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] | undefined {
  const old = before.map(keyOf);
  const now = after.map(keyOf);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  if (old.length + now.length - 2 * (head + tail) > comparedLines) return undefined;
  const lines: DiffLine[] = [];
  for (let line = 0; line < head; line++) lines.push({ change: "same", line });
  lines.push(...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail), head));
  for (let line = now.length - tail; line < now.length; line++) lines.push({ change: "same", line });
  return lines;
}

/** By the longest common subsequence; a line that replaces another follows it. */
function middle(old: readonly string[], now: readonly string[], offset: number): DiffLine[] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === now[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ change: "same", line: offset + j++ });
      i++;
    } else if (i < old.length && (j === now.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      lines.push({ change: "removed", line: offset + i++ });
    else lines.push({ change: "added", line: offset + j++ });
  }
  return paired(lines);
}

/** Equal numbers of removed and added lines are paired one by one. */
function paired(lines: readonly DiffLine[]): DiffLine[] {
  const ordered: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const gone = runOf(lines, at, "removed");
    const come = runOf(lines, at + gone.length, "added");
    if (gone.length === 0 && come.length === 0) ordered.push(lines[at++]!);
    else if (gone.length === come.length) for (const [index, line] of gone.entries()) ordered.push(line, come[index]!);
    else ordered.push(...gone, ...come);
    at += gone.length + come.length;
  }
  return ordered;
}

function runOf(lines: readonly DiffLine[], from: number, change: Change): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.change === change) to++;
  return lines.slice(from, to);
}

interface Side {
  readonly laidOut: LaidOutText;
  readonly lines: readonly string[];
  readonly starts: Uint32Array;
}

function startsOf(lines: readonly string[]): Uint32Array {
  const starts = new Uint32Array(lines.length);
  let at = 0;
  for (const [index, line] of lines.entries()) {
    starts[index] = at;
    at += line.length + 1;
  }
  return starts;
}

/** Both sides in one text, each line with its colours. Folds are omitted: one could hide a change. */
function join(lines: readonly DiffLine[], before: Side, after: Side): LaidOutText {
  const texts: string[] = [];
  const marks: number[] = [];
  const softBreaks: number[] = [];
  const changes = new Uint8Array(lines.length);
  const lineNumbers = new Uint32Array(lines.length);
  let pieces = 0;
  let isPiece = false;
  let at = 0;
  const cursors = { before: 0, after: 0 };
  for (const [index, { change, line }] of lines.entries()) {
    const side = change === "removed" ? "before" : "after";
    const { laidOut, lines: from, starts } = side === "before" ? before : after;
    const text = from[line] ?? "";
    const start = starts[line] ?? 0;
    // The lines of each side are in order, and so are its marks.
    let mark = cursors[side];
    while (mark < laidOut.marks.length && laidOut.marks[mark]! < start) mark += 3;
    for (; mark < laidOut.marks.length && laidOut.marks[mark]! < start + text.length; mark += 3)
      marks.push(laidOut.marks[mark]! - start + at, laidOut.marks[mark + 1]! - start + at, laidOut.marks[mark + 2]!);
    cursors[side] = mark;
    changes[index] = changeCodes[change];
    texts.push(text);
    at += text.length;
    const goesOn = laidOut.softBreaks.length > 0 && laidOut.softBreaks.includes(start + text.length);
    if (goesOn) softBreaks.push(at);
    if (side === "after") {
      lineNumbers[index] = isPiece ? 0 : line + 1 - pieces;
      isPiece = goesOn;
      if (goesOn) pieces++;
    }
    at++;
  }
  const { hex, notes } = after.laidOut;
  return {
    text: texts.join("\n"),
    marks: Uint32Array.from(marks),
    folds: new Uint32Array(),
    softBreaks: Uint32Array.from(softBreaks),
    changes,
    lineNumbers,
    notes,
    ...(hex && { hex }),
  };
}

/** The newer content alone, without the layout's own line ends: to copy. */
export function copiedText({ text, changes, softBreaks }: LaidOutText): string {
  if (!changes?.includes(changeCodes.removed)) return withoutSoftBreaks(text, softBreaks);
  return text
    .split("\n")
    .filter((_, index) => changes[index] !== changeCodes.removed)
    .join("\n");
}
