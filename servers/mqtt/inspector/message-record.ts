import type { MqttDelivery, MqttMessage, MqttMessageProperties, MqttMessageSummary } from "../../../contract/mqtt.ts";
import { previewBytes, type TrafficRow } from "../../../contract/traffic.ts";
import { previewText } from "../../core/preview-text.ts";
import type { TrafficEntry } from "../../core/service.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { putVariable, variableLength } from "../codec/byte-writer.ts";
import { type Properties, propertyContext, readProperties } from "../codec/properties.ts";
import type { DeliveryTrace, DropReason } from "../engine/delivery-trace.ts";
import type { Message } from "../engine/message.ts";

/** Of each message; the counts go on. */
const keptDeliveries = 100;
const deliveryBytes = 120;
/** Of those, in the detail that travels with each row; the page asks for the rest. */
const toldDeliveries = 10;

interface Delivery {
  readonly clientId: string;
  readonly qos: number;
  readonly at: number;
  acknowledgedAt: number;
  reason: number;
  dropped: DropReason | undefined;
}

export interface RecordFacts {
  readonly id: number;
  readonly message: Message;
  readonly dup: boolean;
  /** Absent for the broker itself. */
  readonly from?: { readonly version: number; readonly peer: string } | undefined;
  readonly topicAlias: number | undefined;
  /** The PUBLISH as it came, cut to the recorder's limit. */
  readonly packet: Buffer | undefined;
  readonly payloadLimit: number;
  /** The last acknowledgement that was waited for came. */
  readonly onAcknowledged: (record: MessageRecord) => void;
}

/** One recorded message, and what becomes of it at each client. */
export class MessageRecord implements DeliveryTrace, TrafficEntry {
  readonly id: number;
  readonly at = Date.now();
  readonly message: Message;
  deliveredCount = 0;
  acknowledgeableCount = 0;
  acknowledgedCount = 0;
  droppedCount = 0;
  /** What it was counted for in the recorder's bounds. */
  countedBytes = 0;
  /** No more acknowledgements are waited for. */
  settled = false;
  private readonly startedAt = performance.now();
  private readonly deliveries: Delivery[] = [];
  private readonly facts: RecordFacts;
  private settledAfterMs = 0;

  constructor(facts: RecordFacts) {
    this.id = facts.id;
    this.facts = facts;
    this.message = facts.message;
  }

  get heldBytes(): number {
    return 1_000 + this.message.bytes + (this.facts.packet?.length ?? 0) + this.deliveries.length * deliveryBytes;
  }

  get waiting(): boolean {
    return this.acknowledgedCount < this.acknowledgeableCount;
  }

  settle(): void {
    this.settled = true;
    this.settledAfterMs = performance.now() - this.startedAt;
  }

  row(): Omit<TrafficRow, "service"> {
    const { message, facts } = this;
    const waiting = this.waiting && !this.settled;
    return {
      id: this.id,
      at: this.at,
      kind: "message",
      verb: `QoS ${message.qos}${message.retain ? ", retained" : ""}`,
      target: message.topic,
      tone: waiting ? "pending" : this.droppedCount > 0 ? "failed" : "ok",
      outcome: this.outcome(),
      ...(!waiting && { tookMs: this.settledAfterMs }),
      bytesIn: message.payload.length,
      bytesOut: message.payload.length * this.deliveredCount,
      client: message.publisherId || (message.own ?? "broker"),
      peer: facts.from?.peer ?? "",
      preview: previewText(message.payload.subarray(0, previewBytes)),
    };
  }

  private outcome(): string {
    const { deliveredCount: delivered, acknowledgeableCount: acknowledgeable, droppedCount: drops, message } = this;
    const parts: string[] = [];
    if (acknowledgeable > 0) parts.push(`${this.acknowledgedCount} of ${acknowledgeable} acknowledged`);
    else if (delivered > 0) parts.push(`to ${delivered}`);
    else if (message.matched > 0 && drops === 0) parts.push("queued");
    else if (drops === 0) parts.push("no subscriber");
    if (drops > 0) parts.push(`dropped for ${drops}`);
    return parts.join(", ");
  }

  summary(): MqttMessageSummary {
    const { message } = this;
    return {
      id: this.id,
      at: this.at,
      topic: message.topic,
      qos: message.qos,
      retain: message.retain,
      publisher: message.publisherId,
      ...(message.own && { own: message.own }),
      bytes: message.payload.length,
      start: message.payload.toString("base64", 0, previewBytes),
      matched: message.matched,
      delivered: this.deliveredCount,
      acknowledged: this.acknowledgedCount,
      acknowledgeable: this.acknowledgeableCount,
      dropped: this.droppedCount,
    };
  }

  detail(): MqttMessage {
    return this.describeWith(toldDeliveries);
  }

  fullDetail(): MqttMessage {
    return this.describeWith(keptDeliveries);
  }

  private describeWith(deliveries: number): MqttMessage {
    const { message, facts } = this;
    return {
      kind: "message",
      ...this.summary(),
      dup: facts.dup,
      ...(facts.from && { version: facts.from.version }),
      properties: this.properties(),
      payload: message.payload.toString("base64", 0, facts.payloadLimit),
      ...(facts.packet && { packet: facts.packet.toString("base64") }),
      deliveries: this.deliveries.slice(0, deliveries).map((delivery) => this.describe(delivery)),
    };
  }

  private describe({ clientId, qos, at, acknowledgedAt, reason, dropped }: Delivery): MqttDelivery {
    const after = (time: number) => Math.round((time - this.startedAt) * 1_000) / 1_000;
    return {
      clientId,
      qos,
      afterMs: after(at),
      ...(acknowledgedAt > 0 && { acknowledgedAfterMs: after(acknowledgedAt) }),
      ...(reason > 0 && { reason }),
      ...(dropped && { dropped }),
    };
  }

  properties(): MqttMessageProperties {
    const { message, facts } = this;
    const decoded = decodeForwarded(message.forwarded);
    return {
      ...(decoded?.payloadFormatIndicator !== undefined && { payloadFormatIndicator: decoded.payloadFormatIndicator }),
      ...(message.expiresAt > 0 && { messageExpiryInterval: Math.max(0, Math.round((message.expiresAt - this.at) / 1_000)) }),
      ...(decoded?.contentType !== undefined && { contentType: decoded.contentType }),
      ...(decoded?.responseTopic !== undefined && { responseTopic: decoded.responseTopic }),
      ...(decoded?.correlationData && { correlationData: decoded.correlationData.toString("base64") }),
      ...(facts.topicAlias !== undefined && { topicAlias: facts.topicAlias }),
      ...(decoded?.userProperties && { userProperties: decoded.userProperties }),
    };
  }

  delivered(clientId: string, qos: number): void {
    this.deliveredCount++;
    if (qos > 0) this.acknowledgeableCount++;
    this.note(clientId, qos);
  }

  acknowledged(clientId: string, reason: number): void {
    this.acknowledgedCount++;
    const delivery = this.deliveries.find((candidate) => candidate.clientId === clientId && candidate.acknowledgedAt === 0);
    if (delivery) {
      delivery.acknowledgedAt = performance.now();
      delivery.reason = reason;
    }
    if (!this.waiting) this.facts.onAcknowledged(this);
  }

  dropped(clientId: string, why: DropReason): void {
    this.droppedCount++;
    const delivery = this.note(clientId, this.message.qos);
    if (delivery) delivery.dropped = why;
  }

  private note(clientId: string, qos: number): Delivery | undefined {
    if (this.deliveries.length >= keptDeliveries) return undefined;
    const delivery: Delivery = { clientId, qos, at: performance.now(), acknowledgedAt: 0, reason: 0, dropped: undefined };
    this.deliveries.push(delivery);
    return delivery;
  }
}

/** The properties that a message carries on, decoded again. */
export function decodeForwarded(forwarded: Buffer): Properties | undefined {
  if (forwarded.length === 0) return undefined;
  const bytes = Buffer.allocUnsafe(variableLength(forwarded.length) + forwarded.length);
  const at = putVariable(bytes, 0, forwarded.length);
  forwarded.copy(bytes, at);
  const reader = new ByteReader();
  reader.open(bytes, 0, bytes.length);
  return readProperties(reader, propertyContext.publish);
}
