import { createTopicMatcher, hasMoreLevels, hasWildcard, isLongName, isSystemTopic, keptText, textBytes } from "../../codec/topic.ts";
import { treeLevels } from "../engine-limits.ts";
import type { Message } from "../routing/message.ts";
import { RetainedShares, writerBytes } from "./retained-shares.ts";

/** Memory of a topic level, and of a message in addition to its bytes; measured with 100,000 messages. */
const levelBytes = 250;
const messageBytes = 450;
/** Of a long filter, in about as much time as a step in the tree takes. */
const comparedLevels = 256;

class Node {
  children: Map<string, Node> | undefined = undefined;
  message: Message | undefined = undefined;
}

/** The retained message of each topic; finds those that match a filter without scanning all. */
export class RetainedTree {
  private readonly root = new Node();
  private readonly byTopic = new Map<string, Message>();
  /** Without those of $SYS. */
  private readonly shares = new RetainedShares();
  /** Topics with more levels than the tree can hold. */
  private readonly deep = new Set<string>();
  bytes = 0;
  /** Of the message that was retained last. */
  order = 0;
  /** Number of $SYS messages in the count. */
  systemCount = 0;
  /** Topics that `isLongName`. */
  longTopics = 0;
  private levels = 0;
  /** Of the names of the levels. */
  private nameBytes = 0;

  get heldBytes(): number {
    return this.bytes + this.levels * levelBytes + this.nameBytes + this.byTopic.size * messageBytes + this.shares.writers * writerBytes;
  }

  get count(): number {
    return this.byTopic.size;
  }

  get(topic: string): Message | undefined {
    return this.byTopic.get(topic);
  }

  set(message: Message): void {
    message.compact();
    message.retainedOrder = ++this.order;
    const old = this.byTopic.get(message.topic);
    this.bytes += message.bytes - (old?.bytes ?? 0);
    const isOfSystem = isSystemTopic(message.topic);
    if (old) this.shares.remove(old);
    if (!isOfSystem) this.shares.add(message);
    else if (!old) this.systemCount++;
    if (!old && isLongName(message.topic)) this.longTopics++;
    this.byTopic.set(message.topic, message);
    if (hasMoreLevels(message.topic, treeLevels)) {
      this.deep.add(message.topic);
      return;
    }
    let node = this.root;
    for (const level of message.topic.split("/")) {
      node.children ??= new Map();
      let child = node.children.get(level);
      if (!child) {
        child = new Node();
        node.children.set(keptText(level), child);
        this.levels++;
        this.nameBytes += textBytes(level);
      }
      node = child;
    }
    node.message = message;
  }

  delete(topic: string): boolean {
    const old = this.byTopic.get(topic);
    if (!old) return false;
    this.bytes -= old.bytes;
    this.shares.remove(old);
    if (isSystemTopic(topic)) this.systemCount--;
    if (isLongName(topic)) this.longTopics--;
    this.byTopic.delete(topic);
    if (this.deep.delete(topic)) return true;
    const levels = topic.split("/");
    const path = [this.root];
    for (const level of levels) path.push(path.at(-1)?.children?.get(level) as Node);
    (path.at(-1) as Node).message = undefined;
    for (let depth = levels.length; depth > 0; depth--) {
      const node = path[depth] as Node;
      if (node.message || (node.children?.size ?? 0) > 0) break;
      const level = levels[depth - 1] as string;
      path[depth - 1]?.children?.delete(level);
      this.levels--;
      this.nameBytes -= textBytes(level);
    }
    return true;
  }

  /** The message that gives way to a new one when there is no room for it; undefined if its client has most. */
  oldestOfLargest(newcomer?: Message): Message | undefined {
    return this.shares.oldestOfLargest(newcomer);
  }

  values(): IterableIterator<Message> {
    return this.byTopic.values();
  }

  /** The messages whose topics match the filter. */
  matching(filter: string): Message[] {
    return [...this.search(filter)].filter((message) => message !== undefined);
  }

  /**
   * The messages whose topics match, one by one, and undefined for each step that finds none: a search may take long, and may be
   * continued after the tree has changed. Messages that were retained after `upTo` are left out.
   */
  *search(filter: string, upTo = Number.POSITIVE_INFINITY): IterableIterator<Message | undefined> {
    const known = (message: Message | undefined) => (message && message.retainedOrder <= upTo ? message : undefined);
    if (!hasWildcard(filter)) {
      yield known(this.byTopic.get(filter));
      return;
    }
    const levels = filter.split("/");
    const open: { readonly children: IterableIterator<[string, Node]>; readonly depth: number }[] = [];
    let node: Node | undefined = this.root;
    let depth = 0;
    for (;;) {
      let level = levels[depth];
      while (node && level !== undefined && level !== "+" && level !== "#") {
        node = node.children?.get(level);
        level = levels[++depth];
      }
      if (level !== undefined && node?.children) open.push({ children: node.children.entries(), depth: level === "#" ? depth : depth + 1 });
      yield level === "+" ? undefined : known(node?.message);
      node = undefined;
      for (let last = open.at(-1); last && !node; last = open.at(-1)) {
        const next = last.children.next();
        if (next.done) open.pop();
        // [MQTT-4.7.2-1]
        else if (open.length > 1 || !levels[0] || !isWildcard(levels[0]) || !next.value[0].startsWith("$")) node = next.value[1];
        depth = last.depth;
      }
      if (!node) break;
    }
    if (this.deep.size === 0) return;
    const matches = createTopicMatcher(filter);
    const steps = Math.ceil(levels.length / comparedLevels);
    for (const topic of this.deep) {
      yield matches(topic) ? known(this.byTopic.get(topic)) : undefined;
      for (let step = 1; step < steps; step++) yield undefined;
    }
  }
}

const isWildcard = (level: string): boolean => level === "+" || level === "#";
