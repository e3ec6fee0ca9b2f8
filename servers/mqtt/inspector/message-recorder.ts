import type { TrafficSink } from "../../core/service.ts";
import type { PublishPacket } from "../codec/packet.ts";
import { createTopicMatcher, hasWildcard } from "../codec/topic.ts";
import type { Connection } from "../engine/connection.ts";
import type { Message } from "../engine/message.ts";
import { MessageRecord, type RecordContext } from "./message-record.ts";
import { TopicHistory } from "./topic-history.ts";
import type { TopicNode } from "./topic-node.ts";
import { TopicTree, type TopicTreeLimits } from "./topic-tree.ts";

export interface RecorderLimits extends TopicTreeLimits {
  readonly recordedPerSecond: number;
  readonly recordedMessages: number;
  readonly recordedBytes: number;
  /** Of one topic, so that a busy one does not push out all others. */
  readonly recordedTopicMessages: number;
  readonly recordedTopicBytes: number;
  readonly recordedPayloadBytes: number;
}

const tickMs = 100;
/** In a flood nobody reads row by row: from this many times the rate on, only a part of it is recorded. */
const floodFactor = 2;
const sampledPart = 5;
/** Deliveries followed one by one. */
const deliveriesPerSecond = 20_000;
/** A row whose acknowledgements do not come is shown as it stands. */
const settleAfterMs = 5_000;

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
  /** The oldest first. */
  private readonly byId = new Map<number, MessageRecord>();
  private byAge: Iterator<MessageRecord> = this.byId.values();
  newestId = 0;
  private open = new Set<MessageRecord>();
  /** Recorded, but their deliveries are not followed: how many they matched is known after they were routed. */
  private unfollowed: { readonly record: MessageRecord; readonly message: Message }[] = [];
  private readonly traffic: TrafficSink;
  private readonly limits: RecorderLimits;
  private readonly context: RecordContext;
  private readonly timer: NodeJS.Timeout;

  constructor(traffic: TrafficSink, limits: RecorderLimits) {
    this.traffic = traffic;
    this.limits = limits;
    this.tree = new TopicTree(limits);
    this.budget = limits.recordedPerSecond;
    this.context = { payloadLimit: limits.recordedPayloadBytes, onAcknowledged: (record) => this.settle(record) };
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  get kept(): number {
    return this.byId.size;
  }

  published(message: Message, connection: Connection | undefined, packet: PublishPacket | undefined): void {
    const node = this.tree.count(message, this.now);
    // The broker's own figures are no traffic.
    if (message.topic.startsWith("$SYS/")) return;
    this.counted++;
    if (this.budget < 1) {
      this.unrecorded++;
      return;
    }
    this.budget--;
    const origin = connection && {
      version: connection.decoder.version ?? 0,
      peer: connection.origin.peer,
      dup: packet?.dup ?? false,
      topicAlias: packet?.properties?.topicAlias ?? 0,
      packet: connection.decoder.raw(),
    };
    // The tree's own string, where it has one.
    const topic = node?.fullTopic ?? message.topic;
    const record = new MessageRecord(this.traffic.nextId(), topic, message, origin, this.context);
    if (this.deliveryBudget > 0) message.trace = record;
    else this.unfollowed.push({ record, message });
    this.keep(record, node);
  }

  routed(message: Message): void {
    const record = message.trace;
    if (!(record instanceof MessageRecord)) return;
    record.matched = message.matched;
    this.deliveryBudget -= record.deliveredCount;
    this.countAgain(record);
    if (record.waiting) {
      this.open.add(record);
      this.traffic.touch(record);
    } else if (!record.settled) {
      record.settle();
      this.traffic.touch(record);
    }
  }

  private settle(record: MessageRecord): void {
    // Before it is routed to all there is nothing to settle.
    if (!this.open.delete(record)) return;
    record.settle();
    this.traffic.touch(record);
  }

  private keep(record: MessageRecord, node: TopicNode | undefined): void {
    this.byId.set(record.id, record);
    this.newestId = record.id;
    record.countedBytes = record.heldBytes;
    this.bytes += record.countedBytes;
    const { recordedMessages, recordedBytes, recordedTopicMessages, recordedTopicBytes } = this.limits;
    if (node) {
      node.history ??= new TopicHistory();
      const { history } = node;
      record.history = history;
      history.add(record);
      while (history.count > recordedTopicMessages || (history.bytes > recordedTopicBytes && history.count > 1)) {
        this.forget(history.oldest as MessageRecord);
      }
    }
    while (this.byId.size > recordedMessages || this.bytes > recordedBytes) {
      const oldest = this.oldest();
      if (!oldest) break;
      this.forget(oldest);
    }
  }

  private oldest(): MessageRecord | undefined {
    const next = this.byAge.next();
    if (!next.done) return next.value;
    this.byAge = this.byId.values();
    return this.byAge.next().value;
  }

  /** Always the oldest of its topic. */
  private forget(record: MessageRecord): void {
    this.byId.delete(record.id);
    record.history?.removeOldest();
    record.history = undefined;
    this.bytes -= record.countedBytes;
    record.countedBytes = 0;
  }

  /** Its deliveries take memory too. */
  private countAgain(record: MessageRecord): void {
    // It has left already.
    if (record.countedBytes === 0) return;
    const more = record.heldBytes - record.countedBytes;
    record.countedBytes += more;
    this.bytes += more;
    if (record.history) record.history.bytes += more;
  }

  private tick(): void {
    const now = Date.now();
    const elapsedMs = Math.min(1_000, Math.max(1, now - this.now));
    this.now = now;
    const { recordedPerSecond } = this.limits;
    // A busy process has its timers late: by their number the budget would fall behind the rate.
    const perTick = (recordedPerSecond * elapsedMs) / 1_000;
    const flooded = this.counted > floodFactor * perTick;
    this.counted = 0;
    this.budget = flooded ? perTick / sampledPart : Math.min(recordedPerSecond, this.budget + perTick);
    this.deliveryBudget = Math.min(deliveriesPerSecond, this.deliveryBudget + (deliveriesPerSecond * elapsedMs) / 1_000);
    this.tree.settle();
    this.tellUnfollowed();
    // An iterator that rests holds every earlier state of the map.
    this.byAge = this.byId.values();
    for (const record of this.open) {
      if (this.now - record.at < settleAfterMs) break;
      this.settle(record);
    }
  }

  private tellUnfollowed(): void {
    const { unfollowed } = this;
    if (unfollowed.length === 0) return;
    this.unfollowed = [];
    for (const { record, message } of unfollowed) {
      record.matched = message.matched;
      record.settle();
      this.traffic.touch(record);
    }
  }

  find(id: number): MessageRecord | undefined {
    return this.byId.get(id);
  }

  /** Newest first. */
  history(filter: string, options: { text: string; before: number | undefined; limit: number }): MessageRecord[] {
    const before = options.before ?? Number.POSITIVE_INFINITY;
    const text = Buffer.from(options.text, "utf8").toString("latin1");
    const found: MessageRecord[] = [];
    for (const record of this.newestFirst(filter)) {
      if (record.id >= before || (text !== "" && !record.payloadHas(text))) continue;
      found.push(record);
      if (found.length === options.limit) break;
    }
    return found;
  }

  private *newestFirst(filter: string): Generator<MessageRecord> {
    const node = hasWildcard(filter) ? undefined : this.tree.node(filter);
    if (node) {
      if (node.history) yield* node.history.newestFirst();
      return;
    }
    const matches = rememberedMatcher(filter);
    const records = [...this.byId.values()];
    for (let index = records.length - 1; index >= 0; index--) {
      const record = records[index] as MessageRecord;
      if (matches(record.topic)) yield record;
    }
  }

  /** Oldest first, with ids beyond `from` and up to `to`. */
  *between(filter: string, from: number, to: number): Iterable<MessageRecord> {
    const matches = rememberedMatcher(filter);
    for (const record of this.byId.values()) {
      if (record.id > to) return;
      if (record.id > from && matches(record.topic)) yield record;
    }
  }

  clear(): number {
    const cleared = this.byId.size;
    for (const record of this.byId.values()) {
      record.history = undefined;
      record.countedBytes = 0;
    }
    this.byId.clear();
    this.byAge = this.byId.values();
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

/** A topic has many messages: each is compared once. */
function rememberedMatcher(filter: string): (topic: string) => boolean {
  const matches = createTopicMatcher(filter);
  const known = new Map<string, boolean>();
  return (topic) => {
    let answer = known.get(topic);
    if (answer === undefined) {
      answer = matches(topic);
      known.set(topic, answer);
    }
    return answer;
  };
}
