import { lineText, type PayloadLine } from "./payload-lines.ts";

export interface DiffLine {
  readonly change: "same" | "added" | "removed";
  readonly line: PayloadLine;
}

/** More lines, without what both ends share, are not compared: time grows with the product. */
const comparedLines = 1_500;

/** Lines of `after`, with those of `before` that it no longer has; undefined where they are too many to compare. */
export function diffLines(before: readonly PayloadLine[], after: readonly PayloadLine[]): DiffLine[] | undefined {
  // The comma that follows a member is no change of the member.
  const key = (line: PayloadLine) => lineText(line).replace(/,$/, "");
  const old = before.map(key);
  const now = after.map(key);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  if (old.length + now.length - 2 * (head + tail) > comparedLines) return undefined;
  const same = (index: number): DiffLine => ({ change: "same", line: after[index]! });
  return [
    ...after.slice(0, head).map((_, index) => same(index)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail), key),
    ...after.slice(after.length - tail).map((_, index) => same(after.length - tail + index)),
  ];
}

/** By the longest common subsequence; a line that stands in the place of another follows it. */
function middle(before: readonly PayloadLine[], after: readonly PayloadLine[], key: (line: PayloadLine) => string): DiffLine[] {
  const removed = (line: PayloadLine): DiffLine => ({ change: "removed", line });
  const added = (line: PayloadLine): DiffLine => ({ change: "added", line });
  const old = before.map(key);
  const now = after.map(key);
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
      lines.push({ change: "same", line: after[j]! });
      i++;
      j++;
    } else if (i < old.length && (j === now.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      lines.push(removed(before[i++]!));
    else lines.push(added(after[j++]!));
  }
  return paired(lines);
}

/** As many lines that are gone as came in their place belong together one by one. */
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

function runOf(lines: readonly DiffLine[], from: number, change: DiffLine["change"]): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.change === change) to++;
  return lines.slice(from, to);
}
