import type { MqttMessage, MqttMessageProperties, MqttMessageSummary, MqttOwnPublisher } from "../../../contract/traffic/mqtt.ts";
import { previewBytes, type TrafficRow } from "../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import type { Qos } from "../codec/packet.ts";
import { textBytes } from "../codec/topic.ts";
import { type DeliveryTrace, type DropReason, Message } from "../engine/routing/message.ts";
import { steadyNow } from "../engine/steady-clock.ts";
import {
  describeMessage,
  describeProperties,
  describeSummary,
  type NotedDelivery,
  type PublishedMessage,
  type RoutedMessage,
} from "./describe-message.ts";
import { writeDeliveries, writeMessage } from "./message-bytes.ts";
import type { TopicHistory } from "./topic-history.ts";

/** Most recorded deliveries of a message; further ones are only counted. */
const keptDeliveries = 100;
/** Memory of a record and of a delivery in addition to their bytes; measured with 50,000 records. */
const recordBytes = 400;
const deliveryBytes = 100;
/** Deliveries in the detail of a row; the page requests the rest. */
const recordedDeliveries = 10;
/** Most listed deliveries as a retained message. */
const keptRetained = 10;
/** Peer of messages that other brokers published. */
const elsewhere = "another broker";
const rowTargetLength = 1_000;
const rowClientLength = 200;
/** An evicted record keeps what its row shows, and longer fields are truncated or removed. */
const leftLength = 1_024;

/** Shared by all records of a recorder. */
export interface RecordContext {
  /** Most bytes of the payload in a detail and in a response. */
  readonly payloadLimit: number;
  /** Other brokers may have subscribers too. */
  readonly inCluster: boolean;
  /** All expected acknowledgements have arrived. */
  readonly onAcknowledged: (record: MessageRecord) => void;
  /** It was sent to a frozen or delayed client. */
  readonly onReleased: (record: MessageRecord) => void;
  /** After its row was complete. */
  readonly onChanged: (record: MessageRecord) => void;
}

export interface RecordOrigin {
  readonly version: number;
  readonly peer: string;
  readonly dup: boolean;
  /** 0 without. */
  readonly topicAlias: number;
  /** The PUBLISH as received; valid until the next packet. */
  readonly packet: Buffer;
}

/**
 * One recorded message and its deliveries. There may be 50,000: they do not reference the message, and keep its bytes as a Latin-1
 * string, which takes a fifth of the memory of a small buffer.
 */
export class MessageRecord implements DeliveryTrace, TrafficEntry {
  queueSlot = notQueued;
  readonly id: number;
  at = Date.now();
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly publisherId: string;
  readonly internalSource: MqttOwnPublisher | undefined;
  matched = 0;
  /** Messages on its topic, including this one; 0 if the topic is not in the tree. */
  topicCount = 0;
  /** To subscriptions that came later. */
  private sentAsRetainedCount = 0;
  deliveredCount = 0;
  /** Deliveries held back for frozen or delayed clients. */
  private heldBackCount = 0;
  acknowledgeableCount = 0;
  acknowledgedCount = 0;
  droppedCount = 0;
  /** Its bytes in the recorder's total; 0 after its eviction. */
  countedBytes = 0;
  /** No more acknowledgements are expected. */
  settled = false;
  /** The history of its topic, and its neighbours in it. */
  history: TopicHistory<MessageRecord> | undefined = undefined;
  older: MessageRecord | undefined = undefined;
  newer: MessageRecord | undefined = undefined;
  private readonly dup: boolean;
  private readonly isWill: boolean;
  /** 0 for the broker itself. */
  private readonly version: number;
  private readonly peer: string;
  private readonly topicAlias: number;
  /** -1 without. */
  private expirySeconds: number;
  private forwarded: string;
  /** The PUBLISH as received, or the payload if the broker itself published. */
  private bytes: string;
  private payloadAt: number;
  payloadBytes: number;
  private startedAt = performance.now();
  private readonly context: RecordContext;
  private deliveries: NotedDelivery[] | undefined = undefined;
  /** Characters of the client identifiers in it, which the record keeps when the clients are gone. */
  private deliveryNames = 0;
  private settledAfterMs = 0;
  private wrote = false;

  constructor(id: number, topic: string, message: Message, origin: RecordOrigin | undefined, context: RecordContext) {
    this.id = id;
    this.topic = topic;
    this.qos = message.qos;
    this.retain = message.retain;
    this.publisherId = message.publisherId;
    this.internalSource = message.internalSource;
    this.isWill = message.isWill;
    this.dup = origin?.dup ?? false;
    this.version = origin?.version ?? 0;
    this.peer = origin?.peer ?? (message.fromElsewhere ? elsewhere : "");
    this.topicAlias = origin?.topicAlias ?? 0;
    this.expirySeconds = message.expiresAt === 0 ? -1 : Math.max(0, Math.round((message.expiresAt - steadyNow()) / 1_000));
    this.forwarded = message.forwarded.length === 0 ? "" : message.forwarded.toString("latin1");
    // The payload is the last part of a PUBLISH.
    this.bytes = (origin?.packet ?? message.payload).toString("latin1");
    this.payloadBytes = message.payload.length;
    this.payloadAt = this.bytes.length - this.payloadBytes;
    this.context = context;
  }

  /** Restores a record of an earlier process from what the supervisor kept. */
  static restored(
    { at, peer, tookMs }: TrafficRow,
    message: PublishedMessage,
    routed: RoutedMessage,
    context: RecordContext,
  ): MessageRecord {
    const { id, topic, qos, retain, publisherId, version, dup, topicAlias, payloadAt } = message;
    const bytes = Buffer.from(message.bytes, "latin1");
    const published = new Message({ topic, payload: bytes.subarray(payloadAt), qos: qos as Qos, retain, publisherId });
    published.internalSource = message.internalSource;
    published.isWill = message.isWill;
    const record = new MessageRecord(id, topic, published, { version, peer, dup, topicAlias, packet: bytes }, context);
    record.at = at;
    record.forwarded = message.forwarded;
    record.expirySeconds = message.expirySeconds;
    record.payloadBytes = message.payloadBytes;
    record.topicCount = message.topicCount;
    record.matched = routed.matched;
    record.sentAsRetainedCount = routed.sentAsRetained;
    record.deliveredCount = routed.delivered;
    record.acknowledgeableCount = routed.acknowledgeable;
    record.acknowledgedCount = routed.acknowledged;
    record.droppedCount = routed.dropped;
    if (routed.deliveries.length > 0) record.deliveries = [...routed.deliveries];
    record.deliveryNames = namesIn(record.deliveries);
    record.settled = true;
    record.settledAfterMs = tookMs ?? 0;
    record.startedAt -= Math.max(0, Date.now() - at);
    record.wrote = true;
    return record;
  }

  /** Approximate memory; with a history, the topic's string is shared with the tree. */
  get heldBytes(): number {
    const topicBytes = this.history ? 0 : this.topic.length;
    const names = textBytes(this.publisherId) + 2 * this.deliveryNames;
    return recordBytes + topicBytes + names + this.bytes.length + this.forwarded.length + (this.deliveries?.length ?? 0) * deliveryBytes;
  }

  /** Called on eviction: a queued or retained message may still reference the record, and its row may not be written yet. */
  shrink(): void {
    this.countedBytes = 0;
    this.deliveries = this.settled ? undefined : this.deliveries?.slice(0, recordedDeliveries);
    this.deliveryNames = namesIn(this.deliveries);
    if (this.forwarded.length > leftLength) this.forwarded = "";
    if (this.bytes.length <= leftLength) return;
    this.bytes = this.payload(previewBytes).toString("latin1");
    this.payloadAt = 0;
  }

  get waiting(): boolean {
    return this.acknowledgedCount < this.acknowledgeableCount || this.heldBackCount > 0;
  }

  payload(limit = this.payloadBytes): Buffer {
    return Buffer.from(this.bytes.slice(this.payloadAt, this.payloadAt + limit), "latin1");
  }

  /** `text` is UTF-8, given as a Latin-1 string. */
  payloadHas(text: string): boolean {
    return this.bytes.includes(text, this.payloadAt);
  }

  /** It was in the history, and is no more. */
  get isForgotten(): boolean {
    return this.countedBytes === 0;
  }

  /** Of a restored record there may be only a part. */
  get isCut(): boolean {
    return this.bytes.length - this.payloadAt < this.payloadBytes;
  }

  get isSample(): boolean {
    return this.internalSource === "sample traffic";
  }

  settle(): void {
    this.settled = true;
    this.settledAfterMs = performance.now() - this.startedAt;
  }

  get open(): boolean {
    return this.waiting && !this.settled;
  }

  write(record: RecordWriter): void {
    const waiting = this.open;
    record.row({
      id: this.id,
      at: this.at,
      kind: "mqtt-message",
      verb: `QoS ${this.qos}${this.retain ? ", retained" : ""}`,
      target: this.topic.slice(0, rowTargetLength),
      tone: waiting ? "pending" : this.droppedCount > 0 ? "failed" : "ok",
      outcome: this.outcome(),
      tookMs: waiting ? undefined : this.settledAfterMs,
      bytesIn: this.payloadBytes,
      bytesOut: this.payloadBytes * this.deliveredCount,
      client: this.publisherId.slice(0, rowClientLength) || (this.internalSource ?? "broker"),
      peer: this.peer,
      preview: this.payload(previewBytes),
    });
    if (!this.wrote) {
      this.wrote = true;
      writeMessage(record, this.published());
    }
    writeDeliveries(record, this.routed(recordedDeliveries));
  }

  private outcome(): string {
    const { deliveredCount: delivered, acknowledgeableCount: acknowledgeable, droppedCount: drops } = this;
    const parts: string[] = [];
    if (acknowledgeable > 0) parts.push(`${this.acknowledgedCount} of ${acknowledgeable} acknowledged`);
    else if (delivered > 0) parts.push(`to ${delivered}`);
    else if (this.matched > 0 && drops === 0) parts.push("queued");
    else if (drops === 0) parts.push(this.context.inCluster ? "no subscriber here" : "no subscriber");
    if (drops > 0) parts.push(`dropped for ${drops}`);
    return parts.join(", ");
  }

  summary(): MqttMessageSummary {
    return describeSummary(this.published(previewBytes), this.routed(0));
  }

  details(): MqttMessage {
    return describeMessage(this.published(), this.routed(keptDeliveries));
  }

  properties(): MqttMessageProperties {
    return describeProperties(this.published(0));
  }

  private published(limit = this.context.payloadLimit): PublishedMessage {
    return {
      id: this.id,
      at: this.at,
      topic: this.topic,
      qos: this.qos,
      retain: this.retain,
      publisherId: this.publisherId,
      internalSource: this.internalSource,
      isWill: this.isWill,
      dup: this.dup,
      version: this.version,
      topicAlias: this.topicAlias,
      expirySeconds: this.expirySeconds,
      payloadAt: this.payloadAt,
      payloadBytes: this.payloadBytes,
      topicCount: this.topicCount,
      cluster: this.context.inCluster ? (this.peer === elsewhere ? "elsewhere" : "here") : undefined,
      forwarded: this.forwarded,
      bytes: this.bytes.slice(0, this.payloadAt + limit),
    };
  }

  private routed(deliveries: number): RoutedMessage {
    return {
      matched: this.matched,
      sentAsRetained: this.sentAsRetainedCount,
      delivered: this.deliveredCount,
      acknowledgeable: this.acknowledgeableCount,
      acknowledged: this.acknowledgedCount,
      dropped: this.droppedCount,
      deliveries: this.deliveries?.slice(0, deliveries) ?? [],
    };
  }

  delivered(clientId: string, qos: number): void {
    this.deliveredCount++;
    if (qos > 0) this.acknowledgeableCount++;
    this.note(clientId, qos);
    this.changed();
  }

  private changed(): void {
    if (this.settled) this.context.onChanged(this);
  }

  heldBack(): void {
    this.heldBackCount++;
  }

  released(clientId: string, qos: number): void {
    this.heldBackCount--;
    this.delivered(clientId, qos);
    this.context.onReleased(this);
  }

  acknowledged(clientId: string, reason: number): void {
    this.acknowledgedCount++;
    this.noteAcknowledged(clientId, reason, false);
    if (!this.waiting) this.context.onAcknowledged(this);
    this.changed();
  }

  dropped(clientId: string, why: DropReason): void {
    this.droppedCount++;
    const delivery = this.note(clientId, this.qos);
    if (delivery) delivery.dropped = why;
    this.changed();
  }

  /** A retained message may be sent without limit: only the first deliveries are recorded, and only while it is in the history. */
  sentAsRetained(clientId: string, qos: number): void {
    this.sentAsRetainedCount++;
    if (this.countedBytes > 0 && this.sentAsRetainedCount <= keptRetained) this.note(clientId, qos, true);
  }

  acknowledgedAsRetained(clientId: string, reason: number): void {
    this.noteAcknowledged(clientId, reason, true);
  }

  private noteAcknowledged(clientId: string, reason: number, asRetained: boolean): void {
    const delivery = this.deliveries?.find(
      (candidate) => candidate.clientId === clientId && candidate.asRetained === asRetained && candidate.acknowledgedAfterMicros < 0,
    );
    if (!delivery) return;
    delivery.acknowledgedAfterMicros = this.microsNow();
    delivery.reason = reason;
  }

  private note(clientId: string, qos: number, asRetained = false): NotedDelivery | undefined {
    const { deliveries } = this;
    if (deliveries && deliveries.length >= (this.countedBytes > 0 ? keptDeliveries : recordedDeliveries)) return undefined;
    const delivery: NotedDelivery = {
      clientId,
      qos,
      afterMicros: this.microsNow(),
      acknowledgedAfterMicros: -1,
      reason: 0,
      dropped: undefined,
      asRetained,
    };
    this.deliveryNames += clientId.length;
    // Most messages go to one client: a literal allocates one place, a push to an empty list 17.
    if (deliveries) deliveries.push(delivery);
    else this.deliveries = [delivery];
    return delivery;
  }

  private microsNow(): number {
    return Math.round((performance.now() - this.startedAt) * 1_000);
  }
}

const namesIn = (deliveries: readonly NotedDelivery[] = []): number => deliveries.reduce((sum, { clientId }) => sum + clientId.length, 0);
