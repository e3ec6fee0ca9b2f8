import { lineText, type PayloadLine } from "./payload-lines.ts";

export interface DiffLine {
  readonly change: "same" | "added" | "removed";
  readonly line: PayloadLine;
}

/** Above this many lines to compare only what both ends share is matched: time grows with the product. */
const comparedLines = 1_500;

/** Lines of `after`, with those of `before` that it no longer has. */
export function diffLines(before: readonly PayloadLine[], after: readonly PayloadLine[]): DiffLine[] {
  // The comma that follows a member is no change of the member.
  const key = (line: PayloadLine) => lineText(line).replace(/,$/, "");
  const old = before.map(key);
  const now = after.map(key);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const same = (index: number): DiffLine => ({ change: "same", line: after[index]! });
  return [
    ...after.slice(0, head).map((_, index) => same(index)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail), key),
    ...after.slice(after.length - tail).map((_, index) => same(after.length - tail + index)),
  ];
}

/** By the longest common subsequence, removed lines before the added ones that stand in their place. */
function middle(before: readonly PayloadLine[], after: readonly PayloadLine[], key: (line: PayloadLine) => string): DiffLine[] {
  const removed = (line: PayloadLine): DiffLine => ({ change: "removed", line });
  const added = (line: PayloadLine): DiffLine => ({ change: "added", line });
  if (before.length + after.length > comparedLines) return [...before.map(removed), ...after.map(added)];
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
  return lines;
}
