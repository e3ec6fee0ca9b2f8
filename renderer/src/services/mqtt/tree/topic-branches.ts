import type { MqttTopicNode, MqttTopicPage } from "../../../../../contract/services/mqtt.ts";
import type { TopicScope } from "./topic-scope.ts";

export interface TopicRow {
  readonly node: MqttTopicNode;
  /** 0 at the top. */
  readonly depth: number;
  readonly expanded: boolean;
}

export interface TopicBranchesView {
  /** Rows of all open branches together, loaded or not. */
  readonly count: number;
  /** Undefined where the row's page was not read yet. */
  readonly rowAt: (index: number) => TopicRow | undefined;
  /** Topics that match, in place of the tree; empty without a filter. */
  readonly filter: string;
  readonly matching: number;
  readonly loaded: boolean;
  /** What is opened unasked is read as well. */
  readonly settled: boolean;
}

/** What to read: a level of the tree, or with `filter` the topics that match. */
export interface TopicQuery {
  readonly topic?: string;
  readonly filter?: string;
  readonly offset: number;
  readonly limit: number;
}

interface Branch {
  /** By place among its siblings; holes where no page was read. */
  readonly nodes: (MqttTopicNode | undefined)[];
}
/** Rows of one branch that stand together on screen. */
interface Segment {
  readonly key: BranchKey;
  readonly branch: Branch;
  readonly depth: number;
  /** Place of its first row among the siblings, and on screen. */
  readonly from: number;
  readonly at: number;
  readonly length: number;
}
/** The topic above; undefined for the top, which is not the topic with an empty name. */
type BranchKey = string | undefined;

export interface TopicBranches {
  subscribe(listener: () => void): () => void;
  view(): TopicBranchesView;
  /** The rows on screen: pages that are missing there are read. */
  look(first: number, last: number): void;
  /** Reads again what is on screen: counts and last values. */
  refresh(): Promise<void>;
  setFilter(filter: string): void;
  toggle(topic: string, open?: boolean): void;
  indexOf(topic: string): number;
  /** Everything was cleared, or another broker answers. */
  reset(): void;
}

interface TopicBranchesOptions {
  readonly read: (query: TopicQuery) => Promise<MqttTopicPage>;
  readonly onFailure: (error: unknown) => void;
}

const pageRows = 100;
/** Opened unasked, until someone opens or closes a branch: as much as a screen holds. */
const openedUnasked = 28;
const openedDepth = 3;

/** The topic tree as rows, with only what is on screen read from the broker: a branch of 100,000 topics costs one page. */
export function createTopicBranches({ read, onFailure }: TopicBranchesOptions): TopicBranches {
  const listeners = new Set<() => void>();
  const expanded = new Set<string>();
  let branches = new Map<BranchKey, Branch>();
  let segments: readonly Segment[] = [];
  let filter = "";
  let loaded = false;
  let settled = false;
  let untouched = true;
  let range: readonly [first: number, last: number] = [0, 40];
  /** Answers to questions from before a reset or another filter are stale. */
  let era = 0;
  const reading = new Set<string>();
  let view: TopicBranchesView = { count: 0, rowAt: () => undefined, filter, matching: 0, loaded, settled };

  function rebuild() {
    const found: Segment[] = [];
    let at = 0;
    const add = (key: BranchKey, depth: number) => {
      const branch = branches.get(key);
      if (!branch) return;
      let from = 0;
      const cut = (to: number) => {
        if (to > from) found.push({ key, branch, depth, from, at, length: to - from });
        at += to - from;
        from = to;
      };
      if (filter === "" && expanded.size > 0) {
        branch.nodes.forEach((node, place) => {
          if (!node?.hasChildren || !expanded.has(node.topic)) return;
          cut(place + 1);
          add(node.topic, depth + 1);
        });
      }
      cut(branch.nodes.length);
    };
    add(undefined, 0);
    segments = found;
    view = { count: at, rowAt, filter, matching: branches.get(undefined)?.nodes.length ?? 0, loaded, settled };
    for (const listener of listeners) listener();
  }

  function segmentAt(index: number): Segment | undefined {
    let low = 0;
    let high = segments.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const segment = segments[middle]!;
      if (index < segment.at) high = middle - 1;
      else if (index >= segment.at + segment.length) low = middle + 1;
      else return segment;
    }
    return undefined;
  }

  function rowAt(index: number): TopicRow | undefined {
    const segment = segmentAt(index);
    const node = segment?.branch.nodes[segment.from + index - segment.at];
    return segment && node && { node, depth: segment.depth, expanded: filter === "" && node.hasChildren && expanded.has(node.topic) };
  }

  async function readPage(key: BranchKey, page: number): Promise<void> {
    const mine = era;
    const name = `${era} ${page} ${key === undefined ? "" : `/${key}`}`;
    if (reading.has(name)) return;
    reading.add(name);
    const paging = { offset: page * pageRows, limit: pageRows };
    try {
      const answer = await read(filter !== "" ? { filter, ...paging } : { ...(key !== undefined && { topic: key }), ...paging });
      if (mine !== era) return;
      take(key, paging.offset, answer);
    } catch (error) {
      if (mine === era) onFailure(error);
    } finally {
      reading.delete(name);
      if (loaded && !settled && reading.size === 0) {
        settled = true;
        rebuild();
      }
    }
  }

  function take(key: BranchKey, offset: number, { nodes, matching }: MqttTopicPage) {
    const known = branches.get(key);
    const branch: Branch = known ?? { nodes: [] };
    branches.set(key, branch);
    branch.nodes.length = matching;
    for (const [place, node] of nodes.entries()) if (offset + place < matching) branch.nodes[offset + place] = node;
    if (key === undefined) loaded = true;
    rebuild();
    if (untouched && filter === "") openSome(nodes);
    // Where siblings came or went, rows on screen may have moved to a page that was not read.
    look(...range);
  }

  function openSome(nodes: readonly MqttTopicNode[]) {
    for (const { topic, hasChildren } of nodes) {
      if (!hasChildren || expanded.has(topic) || topic.startsWith("$")) continue;
      if (view.count >= openedUnasked || topic.split("/").length > openedDepth) return;
      expanded.add(topic);
      void readPage(topic, 0);
    }
  }

  /** Pages of the rows from `first` to `last`. */
  function pagesIn(first: number, last: number): Map<BranchKey, Set<number>> {
    const pages = new Map<BranchKey, Set<number>>();
    for (let index = Math.max(0, first); index <= last; index++) {
      const segment = segmentAt(index);
      if (!segment) break;
      const of = pages.get(segment.key) ?? new Set();
      pages.set(segment.key, of.add(Math.floor((segment.from + index - segment.at) / pageRows)));
    }
    return pages;
  }

  function look(first: number, last: number) {
    range = [first, last];
    for (let index = Math.max(0, first); index <= Math.min(last, view.count - 1); index++) {
      const segment = segmentAt(index);
      const place = segment ? segment.from + index - segment.at : 0;
      if (segment && !segment.branch.nodes[place]) void readPage(segment.key, Math.floor(place / pageRows));
    }
  }

  function forget() {
    era++;
    branches = new Map();
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    view: () => view,
    look,
    async refresh() {
      const pages = pagesIn(...range);
      // The top is always read: a topic that is new may come there.
      if (!pages.has(undefined)) pages.set(undefined, new Set([0]));
      await Promise.all([...pages].flatMap(([key, of]) => [...of].map((page) => readPage(key, page))));
    },
    setFilter(next) {
      if (next === filter) return;
      filter = next;
      forget();
      void readPage(undefined, 0);
      if (filter === "") for (const topic of expanded) void readPage(topic, 0);
    },
    toggle(topic, open = !expanded.has(topic)) {
      if (open === expanded.has(topic)) return;
      untouched = false;
      if (open) {
        expanded.add(topic);
        void readPage(topic, 0);
      } else expanded.delete(topic);
      rebuild();
    },
    indexOf(topic) {
      for (const { branch, from, at, length } of segments) {
        for (let place = 0; place < length; place++) if (branch.nodes[from + place]?.topic === topic) return at + place;
      }
      return -1;
    },
    reset() {
      forget();
      loaded = false;
      settled = false;
      untouched = true;
      expanded.clear();
      rebuild();
      void readPage(undefined, 0);
    },
  };
}

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
