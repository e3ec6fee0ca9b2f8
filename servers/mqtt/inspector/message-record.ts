import type { MqttMessage, MqttMessageProperties, MqttMessageSummary, MqttOwnPublisher } from "../../../contract/traffic/mqtt.ts";
import { previewBytes, type TrafficRow } from "../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import type { Qos } from "../codec/packet.ts";
import { textBytes } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { steadyNow } from "../engine/steady-clock.ts";
import {
  describeMessage,
  describeProperties,
  describeSummary,
  outcomeOf,
  type PublishedMessage,
  type RoutedMessage,
  toldOf,
  type WaitingPlace,
} from "./describe-message.ts";
import { writeDeliveries, writeMessage } from "./message-bytes.ts";
import { type DeliveryObserver, RecordedDeliveries, recordedDeliveries } from "./recorded-deliveries.ts";
import type { TopicHistory } from "./topic-history.ts";

/** Memory of a record and of a delivery in addition to their bytes; measured with 50,000 records. */
const recordBytes = 464;
const deliveryBytes = 100;
/** Peer of messages that other brokers published. */
const elsewhere = "another broker";
const rowTargetLength = 1_000;
const rowClientLength = 200;
/** An evicted record keeps what its row shows, and longer fields are truncated or removed. */
const leftLength = 1_024;

/** Shared by all records of a recorder. */
export interface RecordContext extends DeliveryObserver<MessageRecord> {
  /** Most bytes of the payload in a detail and in a response. */
  readonly payloadLimit: number;
  /** Other brokers may have subscribers too. */
  readonly inCluster: boolean;
  /** Sessions outlive the process, with what waits in them. */
  readonly isStored: boolean;
  /** They were restored into this process: it does with what waits in them what is to be done. */
  readonly hasStoredSessions: boolean;
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
export class MessageRecord extends RecordedDeliveries implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly topic: string;
  readonly retain: boolean;
  readonly publisherId: string;
  readonly internalSource: MqttOwnPublisher | undefined;
  /** Messages on its topic, including this one; 0 if the topic is not in the tree. */
  topicCount = 0;
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
  private readonly context: RecordContext;
  /** Sessions outlived the process that recorded it. */
  private isStored: boolean;
  private inCluster: boolean;
  private wrote = false;
  private wasRestored = false;

  constructor(id: number, topic: string, message: Message, origin: RecordOrigin | undefined, context: RecordContext) {
    super(message.qos);
    this.id = id;
    this.topic = topic;
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
    this.isStored = context.isStored;
    this.inCluster = context.inCluster;
  }

  protected get observer(): RecordContext {
    return this.context;
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
    record.forwarded = message.forwarded;
    record.expirySeconds = message.expirySeconds;
    record.payloadBytes = message.payloadBytes;
    record.topicCount = message.topicCount;
    record.isStored = message.isStored;
    record.inCluster = message.cluster !== undefined;
    record.restoreDeliveries(at, routed, tookMs ?? 0);
    record.wrote = true;
    record.wasRestored = true;
    return record;
  }

  /** Approximate memory; with a history, the topic's string is shared with the tree. */
  get heldBytes(): number {
    const topicBytes = this.history ? 0 : this.topic.length;
    const names = textBytes(this.publisherId) + 2 * this.listedNames;
    return recordBytes + topicBytes + names + this.bytes.length + this.forwarded.length + this.listed * deliveryBytes;
  }

  /** Called on eviction: a queued or retained message may still reference the record, and its row may not be written yet. */
  shrink(): void {
    this.countedBytes = 0;
    this.shrinkDeliveries();
    if (this.forwarded.length > leftLength) this.forwarded = "";
    if (this.bytes.length <= leftLength) return;
    this.bytes = this.payload(previewBytes).toString("latin1");
    this.payloadAt = 0;
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

  write(record: RecordWriter): void {
    const waiting = this.open;
    const routed = this.routed(recordedDeliveries);
    record.row({
      id: this.id,
      at: this.at,
      kind: "mqtt-message",
      verb: `QoS ${this.qos}${this.retain ? ", retained" : ""}`,
      target: this.topic.slice(0, rowTargetLength),
      tone: waiting ? "pending" : toldOf(routed).dropped > 0 ? "failed" : "ok",
      outcome: this.outcome(routed),
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
    writeDeliveries(record, routed);
  }

  private outcome(routed: RoutedMessage): string {
    const known = outcomeOf(routed);
    if (known !== undefined) return known;
    // Of those that come too fast no delivery is recorded, and a client with rights for nothing gets none.
    if (this.matched > 0) return "no delivery recorded";
    return this.context.inCluster ? "no subscriber here" : "no subscriber";
  }

  /** Of a record of an earlier process whose sessions are stored, and that this process does not have. */
  get isAside(): boolean {
    return this.wasRestored && this.queuedCount > 0 && this.fate === "stored" && !this.context.hasStoredSessions;
  }

  /** In how many milliseconds its time is over; infinite without expiry. */
  get leftMs(): number {
    return this.expirySeconds < 0 ? Number.POSITIVE_INFINITY : this.expirySeconds * 1_000 - this.ageMs;
  }

  protected get waitingPlace(): WaitingPlace {
    if (!this.isAside) return "with a broker";
    if (this.leftMs <= 0) return "expired";
    return this.context.isStored ? "with a broker" : "on disk";
  }

  /** What becomes of `owed` when its process ends. */
  get fate(): "lost" | "moved" | "stored" {
    if (this.inCluster) return "moved";
    return this.isStored ? "stored" : "lost";
  }

  summary(): MqttMessageSummary {
    return describeSummary(this.published(previewBytes), this.routed(0));
  }

  details(): MqttMessage {
    return describeMessage(this.published(), this.routed());
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
      isStored: this.isStored,
      cluster: this.inCluster ? (this.peer === elsewhere ? "elsewhere" : "here") : undefined,
      forwarded: this.forwarded,
      bytes: this.bytes.slice(0, this.payloadAt + limit),
    };
  }
}
