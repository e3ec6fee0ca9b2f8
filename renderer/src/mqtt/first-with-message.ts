import type { TopicRow } from "./topic-branches.ts";

const searchedRows = 200;

interface Rows {
  readonly count: number;
  readonly rowAt: (index: number) => Pick<TopicRow, "node" | "depth" | "expanded"> | undefined;
}

/** The topmost topic that has a message, the broker's own left out; undefined also while what may stand above it is not read. */
export function firstWithMessage(tree: Rows): string | undefined {
  for (let index = 0; index < Math.min(tree.count, searchedRows); index++) {
    const row = tree.rowAt(index);
    if (!row || row.node.topic.startsWith("$")) continue;
    if (row.node.last) return row.node.topic;
    const isRead = (tree.rowAt(index + 1)?.depth ?? 0) > row.depth;
    if (row.expanded && !isRead) return undefined;
  }
  return undefined;
}
