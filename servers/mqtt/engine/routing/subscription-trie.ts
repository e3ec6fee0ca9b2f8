import { countLevels, createTopicMatcher, hasMoreLevels, hasWildcard, isLongName, mostLongNames } from "../../codec/topic.ts";
import { treeLevels } from "../engine-limits.ts";
import { SharedGroup, type Subscriber, Subscription } from "./subscription.ts";

/** The subscriptions and shared groups that match a topic; cached until a subscription changes. */
export interface Match {
  readonly topicBytes: Buffer;
  readonly subscriptions: readonly Subscription[];
  readonly groups: readonly SharedGroup[];
  /** A session may appear more than once. */
  readonly overlapping: boolean;
}

type Entry = Subscription | SharedGroup;
/** A session, or the name of a shared group. */
type Key = Subscriber | string;

class Node {
  children: Map<string, Node> | undefined = undefined;
  entries: Map<Key, Entry> | undefined = undefined;
}

interface DeepFilter {
  readonly matches: (topic: string) => boolean;
  readonly entries: Map<Key, Entry>;
}

/** Of all cached matches; above it the cache is emptied. */
const cacheBytes = 32 << 20;
/** What a match takes beside its topic and its lists. */
const matchBytes = 300;
/** Memory of a node of the tree (290 measured), and, estimated, of a level in the list of a long filter and of a filter beside its text. */
const nodeBytes = 300;
const listedLevelBytes = 8;
const entryBytes = 250;

/** What a subscription takes in memory without the tree's nodes. */
export function ownBytesOf(filter: string): number {
  const own = entryBytes + filter.length;
  return hasMoreLevels(filter, treeLevels) ? own + countLevels(filter) * listedLevelBytes : own;
}

/** The same with the nodes that it needs if there are none yet. */
export function mostBytesOf(filter: string): number {
  const isInTree = hasWildcard(filter) && !hasMoreLevels(filter, treeLevels);
  return ownBytesOf(filter) + (isInTree ? countLevels(filter) * nodeBytes : 0);
}

/** Filters to subscriptions: exact ones in a map, those with wildcards in a tree of levels (MQTT §4.7). */
export class SubscriptionTrie {
  private readonly root = new Node();
  private readonly exact = new Map<string, Map<Key, Entry>>();
  /** Filters with wildcards and more levels than the tree can hold. */
  private readonly deep = new Map<string, DeepFilter>();
  private readonly cache = new Map<string, Match>();
  /** Of long topics: some only. */
  private readonly longCache = new Map<string, Match>();
  private cachedBytes = 0;
  /** Nodes and long filters that the last `match` looked at; 0 if it was kept. */
  visited = 0;
  /** Number of filters in the tree. */
  private wildcards = 0;
  private nodes = 0;

  /** Memory of the tree's nodes. */
  get heldBytes(): number {
    return this.nodes * nodeBytes;
  }

  add(filter: string, key: Key, entry: Entry): void {
    this.forget();
    if (!hasWildcard(filter)) {
      let entries = this.exact.get(filter);
      if (!entries) {
        entries = new Map();
        this.exact.set(filter, entries);
      }
      entries.set(key, entry);
      return;
    }
    if (hasMoreLevels(filter, treeLevels)) {
      const known = this.deep.get(filter);
      if (known) known.entries.set(key, entry);
      else this.deep.set(filter, { matches: createTopicMatcher(filter), entries: new Map([[key, entry]]) });
      return;
    }
    let node = this.root;
    for (const level of filter.split("/")) {
      node.children ??= new Map();
      let child = node.children.get(level);
      if (!child) {
        child = new Node();
        node.children.set(level, child);
        this.nodes++;
      }
      node = child;
    }
    node.entries ??= new Map();
    if (!node.entries.has(key)) this.wildcards++;
    node.entries.set(key, entry);
  }

  remove(filter: string, key: Key): void {
    this.forget();
    if (!hasWildcard(filter)) {
      const entries = this.exact.get(filter);
      entries?.delete(key);
      if (entries?.size === 0) this.exact.delete(filter);
      return;
    }
    if (hasMoreLevels(filter, treeLevels)) {
      const entries = this.deep.get(filter)?.entries;
      entries?.delete(key);
      if (entries?.size === 0) this.deep.delete(filter);
      return;
    }
    const levels = filter.split("/");
    const path = [this.root];
    for (const level of levels) {
      const child = path.at(-1)?.children?.get(level);
      if (!child) return;
      path.push(child);
    }
    if (path.at(-1)?.entries?.delete(key)) this.wildcards--;
    this.prune(path, levels);
  }

  private prune(path: Node[], levels: string[]): void {
    for (let depth = levels.length; depth > 0; depth--) {
      const node = path[depth] as Node;
      if ((node.entries?.size ?? 0) > 0 || (node.children?.size ?? 0) > 0) return;
      (path[depth - 1] as Node).children?.delete(levels[depth - 1] as string);
      this.nodes--;
    }
  }

  match(topic: string): Match {
    this.visited = 0;
    const isLong = isLongName(topic);
    const known = (isLong ? this.longCache : this.cache).get(topic);
    if (known) return known;
    const found: Entry[] = [];
    const exact = this.exact.get(topic);
    if (exact) addAll(found, exact);
    // [MQTT-4.7.2-1]: a leading wildcard does not match a topic that begins with $.
    if (this.wildcards > 0) this.visited += collect(this.root, topic.split("/"), 0, topic.startsWith("$"), found);
    for (const { matches, entries } of this.deep.values()) if (matches(topic)) addAll(found, entries);
    this.visited += this.deep.size * treeLevels;
    const subscriptions = found.filter((entry) => entry instanceof Subscription);
    const groups = found.filter((entry) => entry instanceof SharedGroup);
    const match: Match = {
      topicBytes: Buffer.from(topic, "utf8"),
      subscriptions,
      groups,
      overlapping: new Set(subscriptions.map(({ session }) => session)).size !== subscriptions.length,
    };
    // The topic twice, as text and as bytes, and the references of the two lists.
    const bytes = matchBytes + 2 * topic.length + 8 * found.length;
    if (isLong) {
      if (this.longCache.size >= mostLongNames) this.longCache.clear();
      this.longCache.set(topic, match);
      return match;
    }
    if (this.cachedBytes + bytes > cacheBytes) this.forget();
    this.cache.set(topic, match);
    this.cachedBytes += bytes;
    return match;
  }

  private forget(): void {
    if (this.longCache.size > 0) this.longCache.clear();
    if (this.cachedBytes === 0) return;
    this.cache.clear();
    this.cachedBytes = 0;
  }
}

/** Returns the number of nodes that it looked at. */
function collect(node: Node, levels: readonly string[], depth: number, hidden: boolean, found: Entry[]): number {
  const { children } = node;
  const skipWildcards = hidden && depth === 0;
  if (children && !skipWildcards) {
    // `#` also matches the parent level: sport/# matches sport.
    const rest = children.get("#")?.entries;
    if (rest) addAll(found, rest);
  }
  if (depth === levels.length) {
    if (node.entries) addAll(found, node.entries);
    return 1;
  }
  if (!children) return 1;
  let visited = 1;
  const exact = children.get(levels[depth] as string);
  if (exact) visited += collect(exact, levels, depth + 1, hidden, found);
  if (skipWildcards) return visited;
  const any = children.get("+");
  if (any) visited += collect(any, levels, depth + 1, hidden, found);
  return visited;
}

function addAll(found: Entry[], entries: ReadonlyMap<Key, Entry>): void {
  for (const entry of entries.values()) found.push(entry);
}
