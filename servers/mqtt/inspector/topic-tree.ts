import type { MqttTopicNode, MqttTopicPage } from "../../../contract/mqtt.ts";
import { previewText } from "../../core/preview-text.ts";
import { hasWildcard, topicMatches } from "../codec/topic.ts";
import type { Message } from "../engine/message.ts";
import type { MessageRecord } from "./message-record.ts";

const previewBytes = 64;
const compactedAtOnce = 1_000;

export class TopicNode {
  readonly name: string;
  readonly topic: string;
  readonly parent: TopicNode | undefined;
  children: Map<string, TopicNode> | undefined = undefined;
  /** Messages here and below. */
  count = 0;
  last: Message | undefined = undefined;
  lastAt = 0;
  /** Recorded messages of exactly this topic, oldest first. */
  history: MessageRecord[] | undefined = undefined;

  constructor(name: string, topic: string, parent: TopicNode | undefined) {
    this.name = name;
    this.topic = topic;
    this.parent = parent;
  }
}

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** Every topic that was published on, with exact counts; bounded in topics, not in messages. */
export class TopicTree {
  private root = new TopicNode("", "", undefined);
  private readonly byTopic = new Map<string, TopicNode>();
  private compacting: Iterator<TopicNode> = this.byTopic.values();
  private readonly maximum: number;
  /** Messages on topics that did not fit. */
  uncounted = 0;

  constructor(maximum: number) {
    this.maximum = maximum;
  }

  get size(): number {
    return this.byTopic.size;
  }

  count(message: Message, now: number): TopicNode | undefined {
    const node = this.byTopic.get(message.topic) ?? this.add(message.topic);
    if (!node) {
      this.uncounted++;
      return undefined;
    }
    node.last = message;
    node.lastAt = now;
    for (let at: TopicNode | undefined = node; at; at = at.parent) at.count++;
    return node;
  }

  /** The last messages of a few topics, in turn, let go of the pages that they came in. */
  compactSome(): void {
    for (let count = 0; count < compactedAtOnce; count++) {
      const { value, done } = this.compacting.next();
      if (done) {
        this.compacting = this.byTopic.values();
        return;
      }
      value.last?.compact();
    }
  }

  node(topic: string): TopicNode | undefined {
    return this.byTopic.get(topic);
  }

  topics(): IterableIterator<TopicNode> {
    return this.byTopic.values();
  }

  private add(topic: string): TopicNode | undefined {
    if (this.byTopic.size >= this.maximum) return undefined;
    let node = this.root;
    for (const name of topic.split("/")) {
      node.children ??= new Map();
      let child = node.children.get(name);
      if (!child) {
        child = new TopicNode(name, node === this.root ? name : `${node.topic}/${name}`, node);
        node.children.set(name, child);
      }
      node = child;
    }
    this.byTopic.set(topic, node);
    return node;
  }

  /** One level, by name; of the whole tree without a topic. */
  children(topic: string | undefined, page: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
    let node: TopicNode | undefined = this.root;
    if (topic !== undefined) for (const name of topic.split("/")) node = node?.children?.get(name);
    const children = [...(node?.children?.values() ?? [])].sort(byName);
    return pageOf(children, page, isRetained);
  }

  /** With wildcards as a topic filter, otherwise as text somewhere in the topic. */
  search(filter: string, page: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
    const text = filter.toLowerCase();
    const matches = hasWildcard(filter)
      ? (topic: string) => topicMatches(filter, topic)
      : (topic: string) => topic.toLowerCase().includes(text);
    const found = [...this.byTopic.values()].filter(({ topic }) => matches(topic)).sort(byName);
    return pageOf(found, page, isRetained);
  }

  clear(): void {
    this.root = new TopicNode("", "", undefined);
    this.byTopic.clear();
    this.uncounted = 0;
  }
}

const byName = (one: TopicNode, other: TopicNode) => (one.topic < other.topic ? -1 : one.topic > other.topic ? 1 : 0);

function pageOf(nodes: readonly TopicNode[], { offset, limit }: Page, isRetained: (topic: string) => boolean): MqttTopicPage {
  return { nodes: nodes.slice(offset, offset + limit).map((node) => describe(node, isRetained)), matching: nodes.length };
}

function describe({ name, topic, count, children, last, lastAt }: TopicNode, isRetained: (topic: string) => boolean): MqttTopicNode {
  return {
    name,
    topic,
    count,
    hasChildren: (children?.size ?? 0) > 0,
    retained: isRetained(topic),
    ...(last && {
      last: { at: lastAt, bytes: last.payload.length, qos: last.qos, preview: previewText(last.payload.subarray(0, previewBytes)) },
    }),
  };
}
