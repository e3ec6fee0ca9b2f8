import type { TrafficSink } from "../../core/service.ts";
import type { PublishPacket } from "../codec/packet.ts";
import { hasWildcard, topicMatches } from "../codec/topic.ts";
import type { Connection } from "../engine/connection.ts";
import type { Message } from "../engine/message.ts";
import { MessageRecord } from "./message-record.ts";
import { type TopicNode, TopicTree } from "./topic-tree.ts";

export interface RecorderLimits {
  readonly recordedPerSecond: number;
  readonly recordedMessages: number;
  readonly recordedBytes: number;
  readonly recordedPayloadBytes: number;
  readonly topics: number;
}

const tickMs = 100;
/** In a flood nobody reads row by row: from this many times the rate on, only a part of it is recorded. */
const floodFactor = 2;
const sampledPart = 5;
/** Deliveries followed one by one. */
const deliveriesPerSecond = 20_000;
/** A row whose acknowledgements do not come is shown as it stands. */
const settleAfterMs = 5_000;
/** Of one topic, so that a busy one does not push out all others. */
const keptPerTopic = 5_000;

/**
 * Counts every message in the topic tree, and follows as many one by one as the limits allow: their history, and who received
 * and acknowledged them.
 */
export class MessageRecorder {
  readonly tree: TopicTree;
  /** Messages that were only counted. */
  unrecorded = 0;
  private budget: number;
  /** Since the last tick. */
  private counted = 0;
  /** Following a message costs more the more clients it goes to. */
  private deliveryBudget = deliveriesPerSecond;
  private now = Date.now();
  private bytes = 0;
  /** Topics of the recorded messages, the oldest first: each entry stands for the first message in that topic's history. */
  private order: (TopicNode | undefined)[] = [];
  private head = 0;
  private readonly byId = new Map<number, MessageRecord>();
  private open = new Set<MessageRecord>();
  private readonly traffic: TrafficSink;
  private readonly limits: RecorderLimits;
  private readonly timer: NodeJS.Timeout;

  constructor(traffic: TrafficSink, limits: RecorderLimits) {
    this.traffic = traffic;
    this.limits = limits;
    this.tree = new TopicTree(limits.topics);
    this.budget = limits.recordedPerSecond;
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  get kept(): number {
    return this.byId.size;
  }

  published(message: Message, connection: Connection | undefined, packet: PublishPacket | undefined): void {
    const node = this.tree.count(message, this.now);
    // The broker's own figures are no traffic.
    if (!node || message.topic.startsWith("$SYS/")) return;
    this.counted++;
    if (this.budget < 1) {
      this.unrecorded++;
      return;
    }
    this.budget--;
    const record = new MessageRecord({
      id: this.traffic.nextId(),
      message,
      dup: packet?.dup ?? false,
      from: connection && { version: connection.decoder.version ?? 0, peer: connection.origin.peer },
      topicAlias: packet?.properties?.topicAlias,
      packet: connection && ownCopy(connection.decoder.raw().subarray(0, this.limits.recordedPayloadBytes)),
      payloadLimit: this.limits.recordedPayloadBytes,
      onAcknowledged: this.settle,
    });
    if (this.deliveryBudget > 0) message.trace = record;
    else this.traffic.touch(record);
    this.keep(record, node);
  }

  routed(message: Message): void {
    const record = message.trace;
    if (!(record instanceof MessageRecord)) return;
    this.deliveryBudget -= record.deliveredCount;
    this.bytes += record.heldBytes - record.countedBytes;
    record.countedBytes = record.heldBytes;
    if (record.waiting) {
      this.open.add(record);
      this.traffic.touch(record);
    } else if (!record.settled) {
      record.settle();
      this.traffic.touch(record);
    }
  }

  private readonly settle = (record: MessageRecord): void => {
    // Before it is routed to all there is nothing to settle.
    if (!this.open.delete(record)) return;
    record.settle();
    this.traffic.touch(record);
  };

  private keep(record: MessageRecord, node: TopicNode): void {
    record.message.compact();
    node.history ??= [];
    node.history.push(record);
    this.order.push(node);
    this.byId.set(record.id, record);
    record.countedBytes = record.heldBytes;
    this.bytes += record.countedBytes;
    if (node.history.length > keptPerTopic) this.forget(node);
    while (this.byId.size > this.limits.recordedMessages || this.bytes > this.limits.recordedBytes) {
      const oldest = this.order[this.head];
      if (!oldest) break;
      this.order[this.head++] = undefined;
      // A topic that lost messages for its own bound has fewer than it has entries here.
      if ((oldest.history?.length ?? 0) > 0) this.forget(oldest);
    }
    if (this.head > 10_000 && this.head * 2 > this.order.length) {
      this.order = this.order.slice(this.head);
      this.head = 0;
    }
  }

  private forget(node: TopicNode): void {
    const record = node.history?.shift();
    if (!record) return;
    this.byId.delete(record.id);
    this.bytes -= record.countedBytes;
  }

  private tick(): void {
    this.now = Date.now();
    const { recordedPerSecond } = this.limits;
    const perTick = (recordedPerSecond * tickMs) / 1_000;
    const flooded = this.counted > floodFactor * perTick;
    this.counted = 0;
    this.budget = flooded ? perTick / sampledPart : Math.min(recordedPerSecond, this.budget + perTick);
    this.deliveryBudget = Math.min(deliveriesPerSecond, this.deliveryBudget + (deliveriesPerSecond * tickMs) / 1_000);
    this.tree.compactSome();
    for (const record of this.open) {
      if (this.now - record.at < settleAfterMs) break;
      this.settle(record);
    }
  }

  find(id: number): MessageRecord | undefined {
    return this.byId.get(id);
  }

  /** Newest first. */
  history(filter: string, options: { text: string; before: number | undefined; limit: number }): MessageRecord[] {
    const nodes = hasWildcard(filter)
      ? [...this.tree.topics()].filter(({ topic }) => topicMatches(filter, topic))
      : [this.tree.node(filter)].filter((node) => node !== undefined);
    const before = options.before ?? Number.POSITIVE_INFINITY;
    const text = Buffer.from(options.text, "utf8");
    const fits = ({ id, message }: MessageRecord) => id < before && (text.length === 0 || message.payload.includes(text));
    const newest: MessageRecord[] = [];
    for (const { history } of nodes) {
      if (!history) continue;
      let taken = 0;
      for (let index = history.length - 1; index >= 0 && taken < options.limit; index--) {
        const record = history[index] as MessageRecord;
        if (!fits(record)) continue;
        newest.push(record);
        taken++;
      }
    }
    return newest.sort((one, other) => other.id - one.id).slice(0, options.limit);
  }

  /** Oldest first, with a larger id than `after`. */
  *since(filter: string, after: number): Iterable<MessageRecord> {
    for (const record of this.byId.values()) {
      if (record.id > after && topicMatches(filter, record.message.topic)) yield record;
    }
  }

  clear(): number {
    const cleared = this.byId.size;
    this.byId.clear();
    this.order = [];
    this.head = 0;
    this.bytes = 0;
    this.unrecorded = 0;
    this.tree.clear();
    return cleared;
  }

  close(): void {
    clearInterval(this.timer);
    for (const record of this.open) this.settle(record);
  }
}

/** Not a slice of a shared page, which it would hold. */
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
