import { setImmediate } from "node:timers/promises";
import type { TrafficSink } from "../../core/service/service.ts";
import type { KeptRecord } from "../../core/traffic/row-record.ts";
import { resultOf } from "../../core/turns/work-connection.ts";
import type { PublishPacket } from "../codec/packet.ts";
import { isSystemTopic } from "../codec/topic.ts";
import type { ObservedPublisher } from "../engine/engine-observer.ts";
import type { RetainedTree } from "../engine/retained/retained-tree.ts";
import type { Message } from "../engine/routing/message.ts";
import type { MqttConfig } from "../mqtt-config.ts";
import { AsideRecords } from "./aside-records.ts";
import { EarlierRecords } from "./earlier-records.ts";
import { HistoryParts, type InTurns } from "./history-parts.ts";
import { KeptMessages, type KeptMessagesLimits } from "./kept-messages.ts";
import { MessageRecord, type RecordContext } from "./message-record.ts";
import { mqttEvent } from "./mqtt-event.ts";
import { readHistory } from "./read-history.ts";
import type { TopicTree } from "./topic-tree.ts";

export interface RecorderLimits extends KeptMessagesLimits {
  readonly recordedPerSecond: number;
  readonly recordedPayloadBytes: number;
  /** Clients of other brokers may receive a message that has no subscriber here. */
  readonly inCluster?: boolean;
  /** Sessions outlive the process, with what waits in them. */
  readonly isStored?: boolean;
  /** Stored sessions were restored: they say which deliveries of earlier processes are still owed. */
  readonly sessionsAreRestored?: boolean;
  /** They have a place in the topic tree, whenever they were published. */
  readonly retained?: Pick<RetainedTree, "get" | "values">;
}

/** Largest part of the history for one topic. */
const topicPart = 1 / 4;
/** A topic of ordinary length takes about 600. */
const treeBytesPerTopic = 640;

export type RecorderConfig = Pick<
  MqttConfig,
  "recordedPerSecond" | "recordedPayloadBytes" | "recordedMessages" | "recordedBytes" | "topics" | "cluster" | "persistence"
>;

/** The configured limits, and those that follow from them. */
export const recorderLimits = (config: RecorderConfig): RecorderLimits => ({
  recordedPerSecond: config.recordedPerSecond,
  recordedPayloadBytes: config.recordedPayloadBytes,
  recordedMessages: config.recordedMessages,
  recordedBytes: config.recordedBytes,
  recordedTopicMessages: Math.max(1, config.recordedMessages * topicPart),
  recordedTopicBytes: config.recordedBytes * topicPart,
  topics: config.topics,
  topicTreeBytes: config.topics * treeBytesPerTopic,
  inCluster: config.cluster !== "",
  isStored: config.persistence && config.cluster === "",
});

/** Added to the topic tree in a millisecond or two. */
const retainedPerTurn = 256;
const tickMs = 100;
/** Rows that are written again in a tick. */
const changedPerTick = 1_000;
/** Above this multiple of the recorded rate, only a sample is recorded. */
const floodFactor = 2;
const sampledPart = 10;
/** Most deliveries recorded individually. */
const deliveriesPerSecond = 20_000;
/** How long a clear can be undone: longer than the page offers it. */
const restorableMs = 15_000;
/** Timeout of pending acknowledgements: after it the row is shown as it is. */
const settleAfterMs = 5_000;

/**
 * Counts every message in the topic tree, and records as many as the limits allow, with the clients that received and
 * acknowledged them.
 */
export class MessageRecorder {
  private readonly parts: HistoryParts;
  /** The messages cleared last, while they can be restored. */
  private cleared: { readonly messages: KeptMessages; readonly at: number } | undefined = undefined;
  private clears = 0;
  private closed = false;
  private budget: number;
  /** Since the last tick. */
  private counted = 0;
  /** Remaining deliveries: the cost of recording a message grows with the number of its receivers. */
  private deliveryBudget = deliveriesPerSecond;
  private now = Date.now();
  private open = new Set<MessageRecord>();
  /** Messages recorded without their deliveries; the number of matching subscriptions is known after routing. */
  private unfollowed: { readonly record: MessageRecord; readonly message: Message }[] = [];
  /** What became of them is known only now, long after their rows were complete. */
  private readonly changed = new Set<MessageRecord>();
  private readonly aside: AsideRecords;
  private readonly earlier = new EarlierRecords((id) => (this.parts.partOf(id) ?? this.cleared?.messages)?.find(id));
  private readonly traffic: TrafficSink;
  private readonly limits: RecorderLimits;
  private readonly context: RecordContext;
  private readonly timer: NodeJS.Timeout;

  constructor(traffic: TrafficSink, limits: RecorderLimits) {
    this.traffic = traffic;
    this.limits = limits;
    this.parts = new HistoryParts(() => this.createMessages());
    this.budget = limits.recordedPerSecond;
    this.context = {
      payloadLimit: limits.recordedPayloadBytes,
      inCluster: limits.inCluster === true,
      isStored: limits.isStored === true,
      hasStoredSessions: limits.isStored === true && limits.sessionsAreRestored === true,
      onAcknowledged: (record) => this.settle(record),
      onReleased: (record) => this.released(record),
      onChanged: (record) => void this.changed.add(record),
    };
    this.aside = new AsideRecords(this.context.onChanged);
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  /** For messages that earlier processes recorded, and that wait in stored sessions. */
  readonly traceOfEarlier = this.earlier.traceOf;

  get kept(): number {
    return this.parts.most.size;
  }

  get tree(): TopicTree {
    return this.parts.most.tree;
  }

  /** Messages that were only counted. */
  /** Connects, subscriptions and the like that came too fast to have a row each. */
  unrecordedEvents = 0;

  get unrecorded(): number {
    return this.parts.most.unrecorded;
  }

  get newestId(): number {
    return this.parts.current.newestId;
  }

  published(message: Message, publisher: ObservedPublisher | undefined, packet: PublishPacket | undefined): void {
    const { current } = this.parts;
    const node = current.tree.count(message, this.now);
    // $SYS messages do not count as traffic.
    if (isSystemTopic(message.topic)) return;
    this.counted++;
    if (this.budget < 1) {
      current.unrecorded++;
      return;
    }
    this.budget--;
    const origin = publisher && {
      version: publisher.version,
      peer: publisher.origin.peer,
      dup: packet?.dup ?? false,
      topicAlias: packet?.properties?.topicAlias ?? 0,
      packet: publisher.rawPacket(),
    };
    // Shares the tree's string, if it has one.
    const topic = node?.fullTopic ?? message.topic;
    const record = new MessageRecord(this.traffic.nextId(), topic, message, origin, this.context);
    if (node) record.topicCount = node.own;
    if (this.deliveryBudget > 0) message.trace = record;
    else this.unfollowed.push({ record, message });
    current.keep(record, node);
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

  private countAgain(record: MessageRecord): void {
    (this.parts.partOf(record.id) ?? this.cleared?.messages)?.countAgain(record);
  }

  /** A session with thousands of messages may end: their rows are written one part after the other. */
  private writeChanged(most = changedPerTick): void {
    let left = most;
    for (const record of this.changed) {
      if (left-- <= 0) return;
      this.changed.delete(record);
      if (record.isForgotten) continue;
      this.countAgain(record);
      this.traffic.touch(record);
    }
  }

  private released(record: MessageRecord): void {
    if (record.waiting || !this.open.has(record)) this.traffic.touch(record);
    else this.settle(record);
  }

  private settle(record: MessageRecord): void {
    // A message is settled only after it was routed to all receivers.
    if (!this.open.delete(record)) return;
    record.settle();
    this.traffic.touch(record);
  }

  private tick(): void {
    const now = Date.now();
    const elapsedMs = Math.min(1_000, Math.max(1, now - this.now));
    this.now = now;
    const { recordedPerSecond } = this.limits;
    // By elapsed time, not by ticks: in a busy process timers are late.
    const perTick = (recordedPerSecond * elapsedMs) / 1_000;
    const flooded = this.counted > floodFactor * perTick;
    this.counted = 0;
    this.budget = flooded ? perTick / sampledPart : Math.min(recordedPerSecond, this.budget + perTick);
    this.deliveryBudget = Math.min(deliveriesPerSecond, this.deliveryBudget + (deliveriesPerSecond * elapsedMs) / 1_000);
    this.parts.current.tree.settle();
    this.recordUnfollowed();
    this.aside.tick();
    this.writeChanged();
    this.parts.current.rest();
    if (this.cleared && now - this.cleared.at > restorableMs) this.cleared = undefined;
    for (const record of this.open) {
      if (record.ageMs < settleAfterMs) break;
      this.settle(record);
    }
  }

  private recordUnfollowed(): void {
    const { unfollowed } = this;
    if (unfollowed.length === 0) return;
    this.unfollowed = unfollowed.filter(({ message }) => !message.isRouted);
    for (const { record, message } of unfollowed) {
      if (!message.isRouted) continue;
      record.matched = message.matched;
      record.settle();
      this.traffic.touch(record);
    }
  }

  find(id: number): MessageRecord | undefined {
    return this.parts.partOf(id)?.find(id);
  }

  /** Earlier messages are not being put before the newer ones now: the tree and the history have all of them. */
  whole(): Promise<void> {
    return this.parts.whole();
  }

  /** What is searched for messages; another one after a clear. */
  get history(): Pick<KeptMessages, "history" | "between"> {
    return this.parts.current;
  }

  /** Clears counts and history; they can be restored for a while. */
  clear(): number {
    const messages = this.parts.current;
    this.cleared = { messages, at: this.now };
    this.parts.current = this.createMessages();
    this.clears++;
    void this.addRetained();
    this.touchEvent("CLEAR", "The history of messages was cleared.");
    return messages.size;
  }

  /** Restores the messages cleared last, in addition to newer ones. False if they were discarded. */
  async restore(inTurns: InTurns): Promise<boolean> {
    const { cleared } = this;
    if (!cleared) return false;
    this.cleared = undefined;
    await this.parts.putBefore(cleared.messages, inTurns);
    void this.addRetained();
    this.touchEvent("RESTORE", "The history of messages was restored.");
    return true;
  }

  /** Records the event as a row, so that a later process restores the same history. */
  private touchEvent(verb: "CLEAR" | "RESTORE", text: string): void {
    const event = { verb, text, target: "history", tone: "ok", outcome: "", clientId: "", peer: "" } as const;
    this.traffic.touch(mqttEvent({ id: this.traffic.nextId(), ...event }));
  }

  /** Reads the records of earlier processes, and puts them before those recorded meanwhile. */
  async restoreFrom(kept: AsyncIterable<KeptRecord>, inTurns: InTurns = resultOf): Promise<void> {
    const { clears } = this;
    try {
      const earlier = await readHistory(kept, () => this.createMessages(), this.context, this.endEarlier, inTurns);
      if (this.clears !== clears) return;
      if (earlier.size > 0) await this.parts.putBefore(earlier, inTurns);
    } finally {
      await inTurns(this.earlier.read());
    }
    await this.addRetained();
  }

  private readonly endEarlier = (record: MessageRecord): void => {
    if (record.fate !== "stored" || this.context.hasStoredSessions) record.end(record.fate);
    else if (record.isAside) this.aside.add(record);
  };

  private createMessages(): KeptMessages {
    const { limits } = this;
    const { retained } = limits;
    return new KeptMessages(limits, retained && ((topic) => retained.get(topic) !== undefined));
  }

  /** Retained messages of which no message is known are in the tree too: in turns, since there may be a hundred thousand. */
  private async addRetained(): Promise<void> {
    const { limits, parts } = this;
    const messages = parts.current;
    let step = 0;
    for (const message of limits.retained?.values() ?? []) {
      if (isSystemTopic(message.topic)) continue;
      if (!messages.tree.addRetained(message)) return;
      if (++step % retainedPerTurn === 0) await setImmediate();
      if (parts.current !== messages || this.closed) return;
    }
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    this.aside.clear();
    for (const record of [...this.parts.records(), ...this.open]) if (record.owed > 0 && record.fate !== "stored") record.end(record.fate);
    for (const record of this.open) this.settle(record);
    this.writeChanged(this.changed.size);
  }
}
