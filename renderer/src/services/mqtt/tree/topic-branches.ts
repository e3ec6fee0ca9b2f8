import type { Failure } from "../../../../../contract/service.ts";
import type { MqttTopicNode, MqttTopicPage } from "../../../../../contract/services/mqtt.ts";
import { readFailure } from "../../../control/failure-error.ts";
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
  /** Undefined if the row's page was not read yet. */
  readonly rowAt: (index: number) => TopicRow | undefined;
  /** The matching topics, shown instead of the tree; empty without a filter. */
  readonly filter: string;
  /** Only topics with a retained message, shown instead of the tree. */
  readonly retained: boolean;
  readonly matching: number;
  readonly loaded: boolean;
  /** The automatically opened branches were read too. */
  readonly settled: boolean;
  /** Why the newest read failed. */
  readonly failure: Failure | undefined;
}

/** What to read: a level of the tree, or with `filter` the topics that match. */
export interface TopicQuery {
  readonly topic?: string;
  readonly filter?: string;
  readonly retained?: boolean;
  readonly offset: number;
  readonly limit: number;
}

interface Branch {
  /** By place among the siblings; sparse, since only some pages were read. */
  readonly nodes: (MqttTopicNode | undefined)[];
}
/** Place at which a node was read last. */
interface Place {
  readonly key: BranchKey;
  readonly place: number;
}
/** Rows of one branch that are adjacent on screen. */
interface Segment {
  readonly key: BranchKey;
  readonly branch: Branch;
  readonly depth: number;
  /** Places of the first row among its siblings and on screen. */
  readonly from: number;
  readonly at: number;
  readonly length: number;
}
/** The parent topic; undefined for the top level, which differs from the topic with an empty name. */
type BranchKey = string | undefined;

export interface TopicBranches {
  subscribe(listener: () => void): () => void;
  view(): TopicBranchesView;
  /** Sets the visible rows; missing pages are read. */
  look(first: number, last: number): void;
  /** Reads the counts and last values of the visible rows again. */
  refresh(): Promise<void>;
  setFilter(filter: string): void;
  /** Shows only topics with a retained message, or all. */
  setRetained(retained: boolean): void;
  toggle(topic: string, open?: boolean): void;
  /** Index of the topic's row; -1 if it was not read. */
  indexOf(topic: string): number;
  nodeOf(topic: string): MqttTopicNode | undefined;
  /** Called when the history was cleared, or the broker was restarted. */
  reset(): void;
}

interface TopicBranchesOptions {
  readonly read: (query: TopicQuery) => Promise<MqttTopicPage>;
}

const pageRows = 100;
/** Rows to which branches are opened automatically, until the user opens or closes one: about one screen. */
const openedByItself = 28;
const openedDepth = 3;

/** The topic tree as rows; only visible pages are read from the broker, so a branch of 100,000 topics costs one page. */
export function createTopicBranches({ read }: TopicBranchesOptions): TopicBranches {
  const listeners = new Set<() => void>();
  const expanded = new Set<string>();
  let branches = new Map<BranchKey, Branch>();
  /** Index of each topic, so that a branch of 100,000 topics is not searched. */
  let places = new Map<string, Place>();
  let segments: readonly Segment[] = [];
  let refreshing = 0;
  let filter = "";
  let retained = false;
  let loaded = false;
  let settled = false;
  let failure: Failure | undefined;
  let untouched = true;
  let range: readonly [first: number, last: number] = [0, 40];
  /** Responses to requests made before a reset or a change of the filter are stale. */
  let era = 0;
  const reading = new Set<string>();
  let view: TopicBranchesView = { count: 0, rowAt: () => undefined, filter, retained, matching: 0, loaded, settled, failure };

  /** Topics in one list, not as a tree. */
  const isList = () => filter !== "" || retained;

  function placeOf(topic: string): (Place & { readonly node: MqttTopicNode }) | undefined {
    const place = places.get(topic);
    const node = place && branches.get(place.key)?.nodes[place.place];
    // Siblings may have moved since.
    return place && node?.topic === topic ? { ...place, node } : undefined;
  }

  /** Places of the open nodes of each branch, in order. */
  function openPlaces(): Map<BranchKey, { readonly place: number; readonly topic: string }[]> {
    const open = new Map<BranchKey, { place: number; topic: string }[]>();
    if (isList()) return open;
    for (const topic of expanded) {
      const known = placeOf(topic);
      if (!known?.node.hasChildren) continue;
      const of = open.get(known.key) ?? [];
      of.push({ place: known.place, topic });
      open.set(known.key, of);
    }
    for (const of of open.values()) of.sort((one, other) => one.place - other.place);
    return open;
  }

  function rebuild() {
    const found: Segment[] = [];
    const open = openPlaces();
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
      for (const { place, topic } of open.get(key) ?? []) {
        cut(place + 1);
        add(topic, depth + 1);
      }
      cut(branch.nodes.length);
    };
    add(undefined, 0);
    segments = found;
    view = { count: at, rowAt, filter, retained, matching: branches.get(undefined)?.nodes.length ?? 0, loaded, settled, failure };
    // A refresh reads several pages: they are shown together.
    if (refreshing === 0) for (const listener of [...listeners]) listener();
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
    return segment && node && { node, depth: segment.depth, expanded: !isList() && node.hasChildren && expanded.has(node.topic) };
  }

  /** Whether one of these siblings is visible. */
  function isSeen(key: BranchKey, from: number, to: number): boolean {
    const [first, last] = range;
    const overlaps = (segment: Segment) => {
      const top = Math.max(segment.from, segment.from + first - segment.at);
      const end = Math.min(segment.from + segment.length, segment.from + last + 1 - segment.at);
      return segment.key === key && Math.max(from, top) < Math.min(to, end);
    };
    return segments.some(overlaps);
  }

  /** From this place to the end of its page. A page of long topics comes in parts, of which those in view are read. */
  async function readPage(key: BranchKey, page: number, from = page * pageRows): Promise<void> {
    const mine = era;
    const name = `${era} ${page} ${key === undefined ? "" : `/${key}`}`;
    if (reading.has(name)) return;
    reading.add(name);
    const end = (page + 1) * pageRows;
    try {
      for (let offset = from; ; ) {
        const paging = { offset, limit: end - offset };
        const answer = await read(
          isList() ? { filter: filter || "#", retained, ...paging } : { ...(key !== undefined && { topic: key }), ...paging },
        );
        if (mine !== era) return;
        take(key, offset, answer);
        offset += answer.nodes.length;
        if (answer.nodes.length === 0 || offset >= Math.min(end, answer.matching) || !isSeen(key, offset, end)) return;
      }
    } catch (error) {
      if (mine !== era) return;
      failure = readFailure(error);
      rebuild();
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
    for (const [index, node] of nodes.entries()) {
      const place = offset + index;
      if (place >= matching) break;
      const before = branch.nodes[place];
      // The same object if nothing changed, so that its row is not rendered again.
      if (before === undefined || !isSameNode(before, node)) branch.nodes[place] = node;
      const known = places.get(node.topic);
      if (known?.place !== place || known.key !== key) places.set(node.topic, { key, place });
    }
    if (key === undefined) loaded = true;
    failure = undefined;
    rebuild();
    if (untouched && !isList()) openSome(nodes);
    // If siblings were added or removed, visible rows may be on a page that was not read.
    look(...range);
  }

  function openSome(nodes: readonly MqttTopicNode[]) {
    for (const { topic, hasChildren } of nodes) {
      if (!hasChildren || expanded.has(topic) || topic.startsWith("$")) continue;
      if (view.count >= openedByItself || topic.split("/").length > openedDepth) return;
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
      if (!segment || segment.branch.nodes[place]) continue;
      const page = Math.floor(place / pageRows);
      const isBegun = segment.branch.nodes[page * pageRows] !== undefined;
      void readPage(segment.key, page, isBegun ? place : page * pageRows);
    }
  }

  function forget() {
    era++;
    branches = new Map();
    places = new Map();
  }

  function readAgain() {
    forget();
    void readPage(undefined, 0);
    if (!isList()) for (const topic of expanded) void readPage(topic, 0);
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
      // The top level is always read, since new topics may appear in it.
      if (!pages.has(undefined)) pages.set(undefined, new Set([0]));
      refreshing++;
      await Promise.all([...pages].flatMap(([key, of]) => [...of].map((page) => readPage(key, page))));
      refreshing--;
      rebuild();
    },
    setFilter(next) {
      if (next === filter) return;
      filter = next;
      readAgain();
    },
    setRetained(next) {
      if (next === retained) return;
      retained = next;
      readAgain();
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
      const known = placeOf(topic);
      const segment =
        known && segments.find(({ key, from, length }) => key === known.key && known.place >= from && known.place < from + length);
      return segment ? segment.at + known.place - segment.from : -1;
    },
    nodeOf: (topic) => placeOf(topic)?.node,
    reset() {
      forget();
      loaded = false;
      settled = false;
      failure = undefined;
      untouched = true;
      expanded.clear();
      rebuild();
      void readPage(undefined, 0);
    },
  };
}

function isSameNode(one: MqttTopicNode, other: MqttTopicNode): boolean {
  return (
    one.topic === other.topic &&
    one.count === other.count &&
    one.hasChildren === other.hasChildren &&
    one.retained === other.retained &&
    one.last?.at === other.last?.at &&
    one.last?.preview === other.last?.preview
  );
}

const searchedRows = 200;

interface Rows {
  readonly count: number;
  readonly settled: boolean;
  readonly rowAt: (index: number) => Pick<TopicRow, "node"> | undefined;
}

/**
 * The first topic that has a message, except $SYS; if none is visible, the first branch with all topics below.
 * Undefined while rows above it are being read.
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
