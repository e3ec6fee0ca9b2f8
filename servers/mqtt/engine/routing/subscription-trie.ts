import { resultOf } from "../../../core/turns/work-connection.ts";
import {
  countLevels,
  createTopicMatcher,
  hasMoreLevels,
  hasWildcard,
  isLongName,
  keptText,
  mostLongNames,
  textBytes,
} from "../../codec/topic.ts";
import { treeLevels } from "../engine-limits.ts";
import { Overlap, SharedGroup, type Subscriber, type Subscription } from "./subscription.ts";

/** The sessions and shared groups with subscriptions that match a topic; cached until a subscription changes. */
export interface Match {
  readonly topicBytes: Buffer;
  /** One for each session. */
  readonly subscriptions: readonly (Subscription | Overlap)[];
  readonly groups: readonly SharedGroup[];
  /** What it takes in memory. */
  readonly bytes: number;
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

/** Fewer filters or nodes of the tree, or levels of long filters, are all looked at in a step. */
const visitsOfQuick = 4_096;
/** A topic of at most as many levels leads to no more nodes than that: each has one child of its name, and one of `+`. */
const quickLevels = 11;
/** Nodes and subscriptions in a step of a search. */
const visitsOfSearchStep = 64;
/** Of all cached matches; above it the cache is emptied. */
const cacheBytes = 32 << 20;
/** What a match takes beside its topic and its lists. */
const matchBytes = 300;
/** Of an overlap, without its identifiers. */
const overlapBytes = 300;
/** Memory of a node of the tree (290 measured), and, estimated, of a filter beside its text. */
const nodeBytes = 300;
const entryBytes = 250;
/** Of a level in the list of a long filter. It takes 8 bytes; but each may have to be compared with each new topic, and all together in a step. */
const listedLevelBytes = 100;

/** What a subscription takes in memory without the tree's nodes. */
export function ownBytesOf(filter: string): number {
  const own = entryBytes + textBytes(filter);
  return hasMoreLevels(filter, treeLevels) ? own + countLevels(filter) * listedLevelBytes : own;
}

/** The same with the nodes that it needs if there are none yet. */
export function mostBytesOf(filter: string): number {
  const isInTree = hasWildcard(filter) && !hasMoreLevels(filter, treeLevels);
  return ownBytesOf(filter) + (isInTree ? countLevels(filter) * nodeBytes + textBytes(filter) : 0);
}

/** Filters to subscriptions: exact ones in a map, those with wildcards in a tree of levels (MQTT §4.7). */
export class SubscriptionTrie {
  private readonly root = new Node();
  private readonly exact = new Map<string, Map<Key, Entry>>();
  /** Filters with wildcards and more levels than the tree can hold. */
  private readonly deep = new Map<string, DeepFilter>();
  private deepLevels = 0;
  private readonly cache = new Map<string, Match>();
  /** Of long topics: some only. */
  private readonly longCache = new Map<string, Match>();
  private cachedBytes = 0;
  private prepared: { readonly topic: string; readonly match: Match; readonly visited: number; readonly changes: number } | undefined =
    undefined;
  /** Of subscriptions, so far. */
  private changes = 0;
  /** Nodes, long filters and subscriptions that the last `match` looked at; 0 if it was kept. */
  visited = 0;
  /** Number of filters in the tree. */
  private wildcards = 0;
  private nodes = 0;
  private nameBytes = 0;

  /** Memory of the tree's nodes. */
  get heldBytes(): number {
    return this.nodes * nodeBytes + this.nameBytes;
  }

  add(filter: string, key: Key, entry: Entry): void {
    this.changes++;
    if (!hasWildcard(filter)) {
      this.forgetTopic(filter);
      let entries = this.exact.get(filter);
      if (!entries) {
        entries = new Map();
        this.exact.set(filter, entries);
      }
      entries.set(key, entry);
      return;
    }
    this.forget();
    if (hasMoreLevels(filter, treeLevels)) {
      const known = this.deep.get(filter);
      if (known) {
        known.entries.set(key, entry);
        return;
      }
      this.deep.set(filter, { matches: createTopicMatcher(filter), entries: new Map([[key, entry]]) });
      this.deepLevels += countLevels(filter);
      return;
    }
    let node = this.root;
    for (const level of filter.split("/")) {
      node.children ??= new Map();
      let child = node.children.get(level);
      if (!child) {
        child = new Node();
        node.children.set(keptText(level), child);
        this.nodes++;
        this.nameBytes += textBytes(level);
      }
      node = child;
    }
    node.entries ??= new Map();
    if (!node.entries.has(key)) this.wildcards++;
    node.entries.set(key, entry);
  }

  remove(filter: string, key: Key): void {
    this.changes++;
    if (!hasWildcard(filter)) {
      this.forgetTopic(filter);
      const entries = this.exact.get(filter);
      entries?.delete(key);
      if (entries?.size === 0) this.exact.delete(filter);
      return;
    }
    this.forget();
    if (hasMoreLevels(filter, treeLevels)) {
      const entries = this.deep.get(filter)?.entries;
      entries?.delete(key);
      if (entries?.size === 0 && this.deep.delete(filter)) this.deepLevels -= countLevels(filter);
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
      const level = levels[depth - 1] as string;
      (path[depth - 1] as Node).children?.delete(level);
      this.nodes--;
      this.nameBytes -= textBytes(level);
    }
  }

  /** The matches of the topic are known, or found in a step. */
  isQuick(topic: string): boolean {
    const areFewFilters = this.wildcards < visitsOfQuick && this.deepLevels < visitsOfQuick;
    return (areFewFilters && (this.nodes < visitsOfQuick || !hasMoreLevels(topic, quickLevels))) || this.known(topic) !== undefined;
  }

  private known(topic: string): Match | undefined {
    return (isLongName(topic) ? this.longCache : this.cache).get(topic);
  }

  match(topic: string): Match {
    this.visited = 0;
    const { prepared } = this;
    this.prepared = undefined;
    if (prepared?.topic === topic && prepared.changes === this.changes) {
      this.visited = prepared.visited;
      return prepared.match;
    }
    const known = this.known(topic);
    if (known) return known;
    const { match, visited } = resultOf(this.search(topic));
    this.visited = visited;
    return match;
  }

  /** Sessions and shared groups that the next `match` of the topic has. To be asked where it `isQuick` or was prepared. */
  receiversOf(topic: string): number {
    const match = this.match(topic);
    this.prepared = { topic, match, visited: this.visited, changes: this.changes };
    return match.subscriptions.length + match.groups.length;
  }

  /** The same in steps, for the next `match`, which is to be called when it is done. What is subscribed meanwhile may be left out. */
  *prepare(topic: string): Generator<undefined, void> {
    this.prepared = { topic, ...(yield* this.search(topic)), changes: this.changes };
  }

  private *search(topic: string): Generator<undefined, { match: Match; visited: number }> {
    const { changes } = this;
    const found: Found = [];
    const exact = this.exact.get(topic);
    if (exact) found.push(exact);
    // [MQTT-4.7.2-1]: a leading wildcard does not match a topic that begins with $.
    let visited = this.wildcards > 0 ? yield* collect(this.root, topic.split("/"), topic.startsWith("$"), found) : 0;
    visited += yield* this.matchDeep(topic, found);
    const { subscriptions, groups, looked, overlaps } = yield* merge(found);
    visited += looked;
    // The topic twice, as text and as bytes, the references of the lists, and of each subscription at most two identifiers.
    const bytes = matchBytes + textBytes(topic) + topic.length + 16 * looked + overlapBytes * overlaps;
    const match: Match = { topicBytes: Buffer.from(topic, "utf8"), subscriptions, groups, bytes };
    if (this.changes === changes) this.keep(topic, match);
    return { match, visited };
  }

  private keep(topic: string, match: Match): void {
    if (isLongName(topic)) {
      if (this.longCache.size >= mostLongNames) this.longCache.clear();
      this.longCache.set(topic, match);
      return;
    }
    if (this.cachedBytes + match.bytes > cacheBytes) this.forget();
    this.cache.set(topic, match);
    this.cachedBytes += match.bytes;
  }

  private *matchDeep(topic: string, found: Found): Generator<undefined, number> {
    // `#` also matches the parent level.
    if (this.deep.size === 0 || !hasMoreLevels(topic, treeLevels - 1)) return 0;
    for (const { matches, entries } of this.deep.values()) {
      if (matches(topic)) found.push(entries);
      yield;
    }
    return this.deepLevels;
  }

  private forgetTopic(topic: string): void {
    if (isLongName(topic)) {
      this.longCache.delete(topic);
      return;
    }
    const known = this.cache.get(topic);
    if (!known) return;
    this.cache.delete(topic);
    this.cachedBytes -= known.bytes;
  }

  private forget(): void {
    if (this.longCache.size > 0) this.longCache.clear();
    if (this.cachedBytes === 0) return;
    this.cache.clear();
    this.cachedBytes = 0;
  }
}

/** Of each filter that matches. */
type Found = ReadonlyMap<Key, Entry>[];

interface Merged {
  readonly subscriptions: (Subscription | Overlap)[];
  readonly groups: SharedGroup[];
  /** Number of all entries. */
  readonly looked: number;
  readonly overlaps: number;
}

/** [MQTT-3.3.5-1]: one for each session. */
function* merge(found: Found): Generator<undefined, Merged> {
  const subscriptions: (Subscription | Overlap)[] = [];
  const groups: SharedGroup[] = [];
  const places = new Map<Subscriber, number>();
  let [looked, overlaps] = [0, 0];
  for (const entries of found) {
    for (const entry of entries.values()) {
      if (++looked % visitsOfSearchStep === 0) yield;
      if (entry instanceof SharedGroup) {
        groups.push(entry);
        continue;
      }
      // A session is in the map of a filter once.
      const place = found.length > 1 ? places.get(entry.session) : undefined;
      if (place === undefined) {
        if (found.length > 1) places.set(entry.session, subscriptions.length);
        subscriptions.push(entry);
        continue;
      }
      let overlap = subscriptions[place] as Subscription | Overlap;
      if (!(overlap instanceof Overlap)) {
        const first = overlap;
        overlap = new Overlap(first.session);
        overlap.add(first);
        overlaps++;
        subscriptions[place] = overlap;
      }
      overlap.add(entry);
    }
  }
  return { subscriptions, groups, looked, overlaps };
}

/** Returns the number of nodes that it looked at. */
function* collect(root: Node, levels: readonly string[], hidden: boolean, found: Found): Generator<undefined, number> {
  let visited = 0;
  const nodes = [root];
  const depths = [0];
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    const depth = depths.pop() as number;
    if (++visited % visitsOfSearchStep === 0) yield;
    const { children } = node;
    const skipWildcards = hidden && depth === 0;
    // `#` also matches the parent level: sport/# matches sport.
    const rest = skipWildcards ? undefined : children?.get("#")?.entries;
    if (rest) found.push(rest);
    if (depth === levels.length) {
      if (node.entries) found.push(node.entries);
      continue;
    }
    const any = skipWildcards ? undefined : children?.get("+");
    if (any) depths.push(depth + 1);
    if (any) nodes.push(any);
    const exact = children?.get(levels[depth] as string);
    if (exact) depths.push(depth + 1);
    if (exact) nodes.push(exact);
  }
  return visited;
}
