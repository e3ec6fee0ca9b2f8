import type { MqttTopicNode } from "../../../contract/services/mqtt.ts";
import { previewText } from "../../core/traffic/row-record.ts";
import { keptText } from "../codec/topic.ts";
import type { Message } from "../engine/routing/message.ts";
import type { MessageRecord } from "./message-record.ts";
import { compareNatural } from "./natural-order.ts";
import { SortedList } from "./sorted-list.ts";
import type { TopicHistory } from "./topic-history.ts";

const previewBytes = 64;

/** One topic level. There may be a million: optional fields are created on demand. */
export class TopicNode {
  readonly name: string;
  /** Undefined if nothing was published on exactly this topic. */
  fullTopic: string | undefined = undefined;
  readonly parent: TopicNode | undefined;
  children: Map<string, TopicNode> | undefined = undefined;
  /** Messages on this level and below. */
  count = 0;
  /** Messages on exactly this topic. */
  own = 0;
  /** The last message, until `settle` copies what is shown of it; it keeps its received chunk in memory. */
  last: Message | undefined = undefined;
  /** Undefined for a message that was retained before the recorder began. */
  lastAt: number | undefined = undefined;
  /** Neighbours in the order of the last publication. */
  older: TopicNode | undefined = undefined;
  newer: TopicNode | undefined = undefined;
  /** Recorded messages of exactly this topic. */
  history: TopicHistory<MessageRecord> | undefined = undefined;
  private byName: SortedList<TopicNode> | undefined = undefined;
  /** Latin-1: a string takes a fifth of the memory of a small buffer. */
  private lastStart = "";
  private lastBytes = 0;
  private lastQos = 0;

  constructor(name: string, parent: TopicNode | undefined) {
    this.name = name;
    this.parent = parent;
  }

  get topic(): string {
    if (this.fullTopic !== undefined) return this.fullTopic;
    const names: string[] = [];
    for (let node: TopicNode = this; node.parent; node = node.parent) names.push(node.name);
    return names.reverse().join("/");
  }

  child(name: string): TopicNode {
    const child = new TopicNode(keptText(name), this);
    this.children ??= new Map();
    this.children.set(child.name, child);
    this.byName?.add(child);
    return child;
  }

  /** Removes the topic itself; levels below may remain. */
  clear(): void {
    this.fullTopic = undefined;
    this.last = undefined;
    this.lastStart = "";
    this.lastBytes = 0;
    this.history = undefined;
  }

  remove(child: TopicNode): void {
    this.children?.delete(child.name);
    if (this.children?.size === 0) {
      this.children = undefined;
      this.byName = undefined;
    } else this.byName?.remove(child);
  }

  /** Sorted by name. */
  sortedChildren(): readonly TopicNode[] {
    if (!this.children) return [];
    this.byName ??= new SortedList(this.children.values(), this.parent ? compareNames : compareTopNames);
    return this.byName.items();
  }

  /** Adds to the number of messages on exactly this topic; negative when a topic is evicted. */
  countOwn(more: number): void {
    this.own += more;
    for (let at: TopicNode | undefined = this; at; at = at.parent) at.count += more;
  }

  /** Sets the last message by what is known of it: from its record, or from the retained message. */
  restoreLast(at: number | undefined, payload: Buffer, bytes: number, qos: number): void {
    this.last = undefined;
    this.lastAt = at;
    this.lastStart = payload.toString("latin1", 0, previewBytes);
    this.lastBytes = bytes;
    this.lastQos = qos;
  }

  /** Adds the messages of the same topic in a newer tree. */
  appendNewer(newer: TopicNode, own: number): void {
    newer.settle();
    this.last = undefined;
    this.lastStart = newer.lastStart;
    this.lastBytes = newer.lastBytes;
    this.lastQos = newer.lastQos;
    this.lastAt = newer.lastAt;
    this.countOwn(own);
  }

  settle(): void {
    const { last } = this;
    if (!last) return;
    this.lastStart = last.payload.toString("latin1", 0, previewBytes);
    this.lastBytes = last.payload.length;
    this.lastQos = last.qos;
    this.last = undefined;
  }

  describe(isRetained: (topic: string) => boolean): MqttTopicNode {
    const { name, topic, count, children, fullTopic, lastAt } = this;
    this.settle();
    return {
      name,
      topic,
      count,
      hasChildren: children !== undefined,
      retained: fullTopic !== undefined && isRetained(topic),
      ...(fullTopic !== undefined && {
        last: {
          ...(lastAt !== undefined && { at: lastAt }),
          bytes: this.lastBytes,
          qos: this.lastQos,
          preview: previewText(Buffer.from(this.lastStart, "latin1")),
        },
      }),
    };
  }
}

const compareNames = (one: TopicNode, other: TopicNode) => compareNatural(one.name, other.name);
const compareTopNames = (one: TopicNode, other: TopicNode) => compareTopicText(one.name, other.name);

/** Topics that begin with $ come last. */
export const compareTopicText = (one: string, other: string): number =>
  Number(one.startsWith("$")) - Number(other.startsWith("$")) || compareNatural(one, other);
