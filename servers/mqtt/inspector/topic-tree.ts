import type { MqttTopicPage } from "../../../contract/services/mqtt.ts";
import { createTopicMatcher, hasWildcard, isSystemTopic } from "../codec/topic.ts";
import type { Message } from "../engine/routing/message.ts";
import { SortedList } from "./sorted-list.ts";
import { compareTopicText, TopicNode } from "./topic-node.ts";

/** What a level of a topic and what a topic takes beside its name, as measured with 100,000 of them. */
const levelBytes = 250;
const topicBytes = 200;
/** What lies deeper stands in one row: a topic may have 65,535 levels, and a few of those would fill the tree. */
const shownLevels = 64;

export interface TopicTreeLimits {
  readonly topics: number;
  readonly topicTreeBytes: number;
}

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Every topic that was published on, with exact counts; bounded in topics and bytes, not in messages. */
export class TopicTree {
  /** Messages on topics that did not fit. */
  uncounted = 0;
  /** Topics of the broker's own figures: not among those that are bounded. */
  private systemTopics = 0;
  bytes = 0;
  private readonly root = new TopicNode("", undefined);
  private readonly byTopic = new Map<string, TopicNode>();
  /** Made when someone searches. */
  private inOrder: SortedList<TopicNode> | undefined = undefined;
  private lastSearch: { readonly filter: string; readonly size: number; readonly nodes: readonly TopicNode[] } | undefined = undefined;
  /** Topics whose last message is still held. */
  private unsettled: TopicNode[] = [];
  private readonly limits: TopicTreeLimits;

  constructor(limits: TopicTreeLimits) {
    this.limits = limits;
  }

  /** Without the broker's own figures. */
  get size(): number {
    return this.byTopic.size - this.systemTopics;
  }

  /** Undefined where the tree is full. */
  count(message: Message, now: number): TopicNode | undefined {
    const node = this.byTopic.get(message.topic) ?? this.add(message.topic);
    if (!node) {
      this.uncounted++;
      return undefined;
    }
    if (node.last === undefined) this.unsettled.push(node);
    node.last = message;
    node.lastAt = now;
    for (let at: TopicNode | undefined = node; at; at = at.parent) at.count++;
    return node;
  }

  /** Lets go of the messages counted since the last time; what is shown of them stays. */
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
    if (!isSystem && this.size >= this.limits.topics) return undefined;
    const names = levelsOf(topic);
    let node = this.root;
    let known = 0;
    for (let next = node.children?.get(names[0] as string); next; next = node.children?.get(names[known] as string)) {
      node = next;
      known++;
    }
    let bytes = topicBytes + topic.length;
    for (let level = known; level < names.length; level++) bytes += levelBytes + (names[level] as string).length;
    if (!isSystem && this.bytes + bytes > this.limits.topicTreeBytes) return undefined;
    this.bytes += bytes;
    for (let level = known; level < names.length; level++) node = node.child(names[level] as string);
    node.fullTopic = topic;
    this.byTopic.set(topic, node);
    this.inOrder?.add(node);
    if (isSystem) this.systemTopics++;
    return node;
  }

  /** One level, by name; of the whole tree without a topic. */
  children(topic: string | undefined, page: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
    let node: TopicNode | undefined = this.root;
    if (topic !== undefined) for (const name of levelsOf(topic)) node = node?.children?.get(name);
    return pageOf(node?.sortedChildren() ?? [], page, isRetained);
  }

  /** With wildcards as a topic filter, otherwise as text somewhere in the topic. */
  search(filter: string, page: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
    return pageOf(this.found(filter), page, isRetained);
  }

  /** The page asks the same again and again, for other places and for new counts. */
  private found(filter: string): readonly TopicNode[] {
    const { lastSearch } = this;
    const { size } = this.byTopic;
    if (lastSearch?.filter === filter && lastSearch.size === size) return lastSearch.nodes;
    const text = filter.toLowerCase();
    const matches = hasWildcard(filter) ? createTopicMatcher(filter) : (topic: string) => topic.toLowerCase().includes(text);
    this.inOrder ??= new SortedList(this.byTopic.values(), compareTopics);
    const nodes = this.inOrder.items().filter(({ topic }) => matches(topic));
    this.lastSearch = { filter, size, nodes };
    return nodes;
  }

  /** Counts on with those of a tree that was begun later. */
  absorb(newer: TopicTree): void {
    for (const node of newer.byTopic.values()) {
      const own = node.ownCount();
      const ours = this.byTopic.get(node.topic) ?? this.add(node.topic);
      if (ours) ours.absorb(node, own);
      else this.uncounted += own;
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

const pageOf = (nodes: readonly TopicNode[], { offset, limit }: Page, isRetained: (topic: string) => boolean): MqttTopicPage => ({
  nodes: nodes.slice(offset, offset + limit).map((node) => node.describe(isRetained)),
  matching: nodes.length,
});
