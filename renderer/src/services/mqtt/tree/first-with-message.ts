import type { TopicRow } from "./topic-branches.ts";
import type { TopicScope } from "./topic-scope.ts";

const searchedRows = 200;

interface Rows {
  readonly count: number;
  readonly settled: boolean;
  readonly rowAt: (index: number) => Pick<TopicRow, "node"> | undefined;
}

/**
 * The topmost topic that has a message, the broker's own left out; where none is in sight, the topmost branch with all below.
 * Undefined while what may stand above it is being read.
 */
export function firstWithMessage(tree: Rows): TopicScope | undefined {
  if (!tree.settled) return undefined;
  let branch: TopicScope | undefined;
  for (let index = 0; index < Math.min(tree.count, searchedRows); index++) {
    const node = tree.rowAt(index)?.node;
    if (!node || node.topic.startsWith("$")) continue;
    if (node.last) return { topic: node.topic, below: false };
    branch ??= { topic: node.topic, below: true };
  }
  return branch;
}
