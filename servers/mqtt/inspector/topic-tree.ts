import type { MqttTopicNode, MqttTopicPage } from "../../../contract/services/mqtt.ts";
import { createTopicMatcher, hasWildcard, isLongName, isSystemTopic, mostLongNames, textBytes } from "../codec/topic.ts";
import type { Message } from "../engine/routing/message.ts";
import { LookSteps } from "./look-steps.ts";
import type { MessageRecord } from "./message-record.ts";
import { SortedList } from "./sorted-list.ts";
import { compareTopicText, TopicNode } from "./topic-node.ts";

/** Memory of a level and of a topic in addition to its name; measured with 100,000 of them. */
const cost = { level: 250, topic: 200 };
/** Deeper levels share one row: a topic may have 65,535 levels, and a few such topics would fill the tree. */
const shownLevels = 64;

/** Of the JSON of a page: a longer answer would delay others. */
const pageBytes = 512 << 10;

export interface TopicTreeLimits {
  readonly topics: number;
  readonly topicTreeBytes: number;
}

interface Page {
  readonly offset: number;
  readonly limit: number;
}

interface SearchPage extends Page {
  /** Only topics with a retained message. */
  readonly retained?: boolean;
}

/** Largest share of the tree's bytes for one topic: a longer one is recorded but left out of the tree, where it would evict many. */
const topicPart = 1 / 100;
/** Most topics that are checked for an eviction; if all of them are retained, the new topic is left out. */
const evictionSteps = 64;

export interface TopicTreeOptions {
  /** A retained topic is not evicted. */
  readonly isRetained: (topic: string) => boolean;
  /** Called when a topic was evicted. */
  readonly onEvicted: (node: TopicNode) => void;
}

/**
 * The published topics with exact counts; bounded in topics and bytes, not in messages. When the tree is full, the topic with the
 * oldest last message is evicted.
 */
export class TopicTree {
  /** Messages on topics that did not fit or were evicted. */
  uncounted = 0;
  private longTopics = 0;
  /** $SYS topics, which do not count against the limit. */
  private systemTopics = 0;
  bytes = 0;
  private readonly root = new TopicNode("", undefined);
  private readonly byTopic = new Map<string, TopicNode>();
  /** Created on the first search. */
  private inOrder: SortedList<TopicNode> | undefined = undefined;
  private lastSearch:
    | { readonly filter: string; readonly version: number; readonly searched: number; readonly nodes: readonly TopicNode[] }
    | undefined = undefined;
  /** Incremented when a topic is added or removed. */
  private version = 0;
  private oldest: TopicNode | undefined = undefined;
  private newest: TopicNode | undefined = undefined;
  /** Topics with a last message that is not settled yet. */
  private unsettled: TopicNode[] = [];
  private readonly limits: TopicTreeLimits;
  private readonly options: TopicTreeOptions;

  constructor(limits: TopicTreeLimits, options: TopicTreeOptions) {
    this.limits = limits;
    this.options = options;
  }

  /** Without $SYS topics. */
  get size(): number {
    return this.byTopic.size - this.systemTopics;
  }

  /** Undefined if the tree is full. */
  count(message: Message, now: number): TopicNode | undefined {
    const node = this.byTopic.get(message.topic) ?? this.add(message.topic);
    if (!node) {
      this.uncounted++;
      return undefined;
    }
    if (node.last === undefined) this.unsettled.push(node);
    node.last = message;
    node.lastAt = now;
    if (node !== this.newest) this.moveToNewest(node);
    node.countOwn(1);
    return node;
  }

  /** Adds a message of an earlier process; `topicCount` is the count of its topic then, 0 if the topic was not in the tree. */
  restore({ topic, at, qos, payloadBytes }: MessageRecord, payload: Buffer, topicCount: number): TopicNode | undefined {
    const node = this.byTopic.get(topic) ?? this.add(topic);
    if (!node) {
      this.uncounted++;
      return undefined;
    }
    // Messages between two recorded ones may only have been counted.
    node.countOwn(Math.max(1, topicCount - node.own));
    node.restoreLast(at, payload, payloadBytes, qos);
    this.moveToNewest(node);
    return node;
  }

  /** Adds the topic of a message that was retained before the recorder began; false if there is no room for it. */
  addRetained({ topic, payload, qos }: Message): boolean {
    if (this.byTopic.has(topic)) return true;
    if (!this.hasRoom(topic, levelsOf(topic))) return false;
    const node = this.add(topic);
    if (!node) return false;
    node.restoreLast(undefined, payload, payload.length, qos);
    this.moveToNewest(node);
    return true;
  }

  /** Releases the last messages, and keeps what is shown of them. */
  settle(): void {
    const { unsettled } = this;
    if (unsettled.length === 0) return;
    this.unsettled = [];
    for (const node of unsettled) node.settle();
  }

  node(topic: string): TopicNode | undefined {
    return this.byTopic.get(topic);
  }

  private add(topic: string): TopicNode | undefined {
    const isSystem = isSystemTopic(topic);
    if (topic.length > this.limits.topicTreeBytes * topicPart) return undefined;
    if (isLongName(topic) && this.longTopics >= mostLongNames) return undefined;
    const names = levelsOf(topic);
    if (!isSystem) while (!this.hasRoom(topic, names)) if (!this.evictOldest()) return undefined;
    let node = this.root;
    for (const name of names) {
      let next = node.children?.get(name);
      if (!next) {
        next = node.child(name);
        this.bytes += cost.level + textBytes(name);
      }
      node = next;
    }
    this.bytes += cost.topic + textBytes(topic);
    node.fullTopic = topic;
    this.byTopic.set(topic, node);
    if (isLongName(topic)) this.longTopics++;
    this.inOrder?.add(node);
    this.version++;
    if (isSystem) this.systemTopics++;
    return node;
  }

  private hasRoom(topic: string, names: readonly string[]): boolean {
    if (this.size >= this.limits.topics) return false;
    let bytes = this.bytes + cost.topic + textBytes(topic);
    let node: TopicNode | undefined = this.root;
    for (const name of names) {
      node = node?.children?.get(name);
      if (!node) bytes += cost.level + textBytes(name);
    }
    return bytes <= this.limits.topicTreeBytes;
  }

  /** $SYS topics are never evicted, so they are not in this list. */
  private moveToNewest(node: TopicNode): void {
    if (isSystemTopic(node.fullTopic ?? "")) return;
    this.unlink(node);
    node.older = this.newest;
    if (this.newest) this.newest.newer = node;
    else this.oldest = node;
    this.newest = node;
  }

  private unlink(node: TopicNode): void {
    const { older, newer } = node;
    if (older) older.newer = newer;
    else if (this.oldest === node) this.oldest = newer;
    if (newer) newer.older = older;
    else if (this.newest === node) this.newest = older;
    node.older = node.newer = undefined;
  }

  /** False if none was found that can be evicted. */
  private evictOldest(): boolean {
    for (let step = 0; step < evictionSteps; step++) {
      const node = this.oldest;
      if (!node) return false;
      if (!this.options.isRetained(node.topic)) {
        this.evict(node);
        return true;
      }
      this.moveToNewest(node);
    }
    return false;
  }

  private evict(node: TopicNode): void {
    const { topic } = node;
    const { own } = node;
    this.options.onEvicted(node);
    this.unlink(node);
    this.byTopic.delete(topic);
    if (isLongName(topic)) this.longTopics--;
    this.inOrder?.remove(node);
    this.version++;
    this.uncounted += own;
    this.bytes -= cost.topic + textBytes(topic);
    node.countOwn(-own);
    node.clear();
    for (let at = node; at.parent && !at.children && at.fullTopic === undefined; at = at.parent) {
      at.parent.remove(at);
      this.bytes -= cost.level + textBytes(at.name);
    }
  }

  /** The children of a topic, by name; without a topic the top level. */
  children(topic: string | undefined, page: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
    let node: TopicNode | undefined = this.root;
    if (topic !== undefined) for (const name of levelsOf(topic)) node = node?.children?.get(name);
    return pageOf(node?.sortedChildren() ?? [], page, isRetained);
  }

  /** With wildcards, the text is a topic filter; otherwise it may occur anywhere in the topic. In steps. */
  *search(filter: string, { retained, ...page }: SearchPage, isRetained: (topic: string) => boolean): Generator<undefined, MqttTopicPage> {
    const found = yield* this.found(filter);
    return pageOf(retained ? yield* nodesOf(found, isRetained) : found, page, isRetained);
  }

  /** The page repeats the same search for other pages and for new counts. */
  private *found(filter: string): Generator<undefined, readonly TopicNode[]> {
    const { lastSearch } = this;
    const { version } = this;
    this.inOrder ??= new SortedList(this.byTopic.values(), compareTopics);
    const all = this.inOrder.items();
    if (lastSearch?.filter === filter && lastSearch.version === version && lastSearch.searched === all.length) return lastSearch.nodes;
    const text = filter.toLowerCase();
    const matches = hasWildcard(filter) ? createTopicMatcher(filter) : (topic: string) => topic.toLowerCase().includes(text);
    const nodes = yield* nodesOf(all, matches);
    this.lastSearch = { filter, version, searched: all.length, nodes };
    return nodes;
  }

  /** Adds the topics and counts of a newer tree, which does not change any more. In steps. */
  *appendNewer(newer: TopicTree): Generator<undefined, void> {
    const steps = new LookSteps();
    for (const node of newer.byTopic.values()) {
      if (steps.isOver(node.topic.length)) yield;
      const { own } = node;
      const known = this.byTopic.get(node.topic);
      // Retained before this tree began: it is not newer than what is known.
      if (known && own === 0) continue;
      const ours = known ?? this.add(node.topic);
      if (ours) {
        ours.appendNewer(node, own);
        this.moveToNewest(ours);
      } else this.uncounted += own;
    }
    this.uncounted += newer.uncounted;
  }
}

function levelsOf(topic: string): string[] {
  const names = topic.split("/", shownLevels);
  if (names.length < shownLevels) return names;
  const above = names.slice(0, -1);
  return [...above, topic.slice(above.join("/").length + 1)];
}

const compareTopics = (one: TopicNode, other: TopicNode) => compareTopicText(one.topic, other.topic);

/** A topic may be 64 KiB long, and is in a page as its name too: such a page ends before its limit. One topic is always in it. */
function pageOf(nodes: readonly TopicNode[], { offset, limit }: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
  const shown: MqttTopicNode[] = [];
  let bytes = 0;
  for (let place = offset; place < Math.min(offset + limit, nodes.length); place++) {
    const node = (nodes[place] as TopicNode).describe(isRetained);
    bytes += Buffer.byteLength(JSON.stringify(node));
    if (bytes > pageBytes && shown.length > 0) break;
    shown.push(node);
  }
  return { nodes: shown, matching: nodes.length };
}

/** Those whose topic `isMatch` accepts. In steps. */
function* nodesOf(nodes: readonly TopicNode[], isMatch: (topic: string) => boolean): Generator<undefined, TopicNode[]> {
  const found: TopicNode[] = [];
  const steps = new LookSteps();
  for (const node of nodes) {
    const { topic } = node;
    if (isMatch(topic)) found.push(node);
    if (steps.isOver(topic.length)) yield;
  }
  return found;
}
