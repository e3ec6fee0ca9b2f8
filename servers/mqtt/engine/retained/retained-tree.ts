import { createTopicMatcher, hasMoreLevels, hasWildcard, isSystemTopic } from "../../codec/topic.ts";
import { treeLevels } from "../engine-limits.ts";
import type { Message } from "../routing/message.ts";

/** Memory of a topic level, and of a message in addition to its bytes; measured with 100,000 messages. */
const levelBytes = 250;
const messageBytes = 400;

class Node {
  children: Map<string, Node> | undefined = undefined;
  message: Message | undefined = undefined;
}

/** The retained message of each topic; finds those that match a filter without scanning all. */
export class RetainedTree {
  private readonly root = new Node();
  private readonly byTopic = new Map<string, Message>();
  /** Topics with more levels than the tree can hold. */
  private readonly deep = new Set<string>();
  bytes = 0;
  /** Number of $SYS messages in the count. */
  systemCount = 0;
  private levels = 0;

  get heldBytes(): number {
    return this.bytes + this.levels * levelBytes + this.byTopic.size * messageBytes;
  }

  get count(): number {
    return this.byTopic.size;
  }

  get(topic: string): Message | undefined {
    return this.byTopic.get(topic);
  }

  set(message: Message): void {
    message.compact();
    const old = this.byTopic.get(message.topic);
    this.bytes += message.bytes - (old?.bytes ?? 0);
    if (!old && isSystemTopic(message.topic)) this.systemCount++;
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
        node.children.set(level, child);
        this.levels++;
      }
      node = child;
    }
    node.message = message;
  }

  delete(topic: string): boolean {
    const old = this.byTopic.get(topic);
    if (!old) return false;
    this.bytes -= old.bytes;
    if (isSystemTopic(topic)) this.systemCount--;
    this.byTopic.delete(topic);
    if (this.deep.delete(topic)) return true;
    const levels = topic.split("/");
    const path = [this.root];
    for (const level of levels) path.push(path.at(-1)?.children?.get(level) as Node);
    (path.at(-1) as Node).message = undefined;
    for (let depth = levels.length; depth > 0; depth--) {
      const node = path[depth] as Node;
      if (node.message || (node.children?.size ?? 0) > 0) break;
      path[depth - 1]?.children?.delete(levels[depth - 1] as string);
      this.levels--;
    }
    return true;
  }

  values(): IterableIterator<Message> {
    return this.byTopic.values();
  }

  /** The messages whose topics match the filter. */
  matching(filter: string): Message[] {
    if (!hasWildcard(filter)) {
      const message = this.byTopic.get(filter);
      return message ? [message] : [];
    }
    const found: Message[] = [];
    collect(this.root, filter.split("/"), 0, found);
    if (this.deep.size === 0) return found;
    const matches = createTopicMatcher(filter);
    for (const topic of this.deep) if (matches(topic)) found.push(this.byTopic.get(topic) as Message);
    return found;
  }
}

function collect(node: Node, levels: readonly string[], depth: number, found: Message[]): void {
  const level = levels[depth];
  if (level === undefined) {
    if (node.message) found.push(node.message);
    return;
  }
  if (level === "#") {
    collectAll(node, depth === 0, found);
    return;
  }
  if (!node.children) return;
  if (level !== "+") {
    const child = node.children.get(level);
    if (child) collect(child, levels, depth + 1, found);
    return;
  }
  for (const [name, child] of node.children) {
    // [MQTT-4.7.2-1]
    if (depth === 0 && name.startsWith("$")) continue;
    collect(child, levels, depth + 1, found);
  }
}

function collectAll(node: Node, top: boolean, found: Message[]): void {
  if (node.message) found.push(node.message);
  if (!node.children) return;
  for (const [name, child] of node.children) {
    if (top && name.startsWith("$")) continue;
    collectAll(child, false, found);
  }
}
