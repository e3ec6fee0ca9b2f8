import type { MqttOwnPublisher } from "../../../../contract/traffic/mqtt.ts";
import { compacted } from "../../codec/byte-reader.ts";
import { putVariable, variableLength } from "../../codec/byte-writer.ts";
import type { Qos } from "../../codec/packet.ts";
import { textBytes } from "../../codec/topic.ts";
import type { SharedRun, SharedSlab } from "../delivery/shared-slab.ts";

export const dropReasons = ["slow reader", "queue full", "expired", "too large", "session ended", "connection ended"] as const;
/**
 * Why a message did not reach a client. "slow reader": QoS 0 to a client that reads too slowly; "too large": above the client's maximum packet size; "connection
 * ended": QoS 0, held back for a client that is gone. The records of messages have the places in this list.
 */
export type DropReason = (typeof dropReasons)[number];

/** Where a delivery is that the broker owes: it waits, or was sent and is not acknowledged. */
export type DeliveryPlace = "queued" | "sent";

/** Callbacks for the deliveries of one message, for the inspector. */
export interface DeliveryTrace {
  /** With which a later process finds the record of the message: its number, and when it was made. */
  readonly id: number;
  readonly at: number;
  delivered(clientId: string, qos: number): void;
  /** Held back for a client that is frozen or delayed; `released` is called when it is sent, `unsent` when it never is. */
  heldBack(clientId: string, qos: number): void;
  released(clientId: string, qos: number): void;
  unsent(): void;
  acknowledged(clientId: string, reason: number): void;
  /** Sent as a retained message to a later subscription. */
  sentAsRetained(clientId: string, qos: number): void;
  acknowledgedAsRetained(clientId: string, reason: number): void;
  dropped(clientId: string, why: DropReason): void;
  /** With its session to another broker of the cluster. */
  moved(clientId: string): void;
  /** The broker owes so many deliveries more, or less. */
  owes(place: DeliveryPlace, more: number): void;
}

/** The identifier of an entry of the journal, and the number of the message in it. */
export interface JournalPlace {
  readonly id: string;
  readonly index: number;
}

export interface MessageFields {
  readonly topic: string;
  /** May be a view of a larger chunk: call `compact` before keeping the message. */
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
  /** Encoded properties that are forwarded unaltered. */
  readonly forwarded?: Buffer | undefined;
  /** Milliseconds since the epoch; 0 is never. */
  readonly expiresAt?: number;
  /** Client identifier; empty if the broker itself publishes. */
  readonly publisherId?: string;
}

const noBytes = Buffer.alloc(0);
const propertyLength = { expiry: 5, alias: 3 };
/** The encoded bytes of a longer topic are not cached: it is encoded again for later receivers. */
const heldTopicLength = 1_024;

/** The part of a PUBLISH that depends on the receiver. */
export interface DeliveryOptions {
  readonly v5: boolean;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly subscriptionIds: readonly number[] | undefined;
  /** Seconds left; -1 without expiry. */
  readonly expirySeconds: number;
  /** 0 if there is none. */
  readonly topicAlias: number;
  /** False if an alias replaces the topic. */
  readonly withTopic: boolean;
}

/** An application message in transit; encoded once per protocol version, QoS and retain flag, for any number of receivers. */
export class Message {
  readonly topic: string;
  payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
  forwarded: Buffer;
  readonly expiresAt: number;
  readonly publisherId: string;
  /** Number of matching subscriptions so far. */
  matched = 0;
  /** Set by the router: what its subscriptions took to find, as `SubscriptionTrie.visited`. */
  visited = 0;
  /** What answers to it took that the broker published at once, in deliveries; and whether they are much to write. */
  answerSteps = 0;
  answersAreMuch = false;
  /** Set by the router before the deliveries. */
  topicBytes: Buffer | undefined = undefined;
  /** The message goes to more than one receiver: the encoded form is cached. */
  fannedOut = false;
  /** Its publisher goes on with what the router leaves `undelivered`. */
  publisherTakesTurns = false;
  /** A step for each delivery that is left. */
  undelivered: Iterator<unknown> | undefined = undefined;
  /** All deliveries were made. */
  isRouted = false;
  /** Present while the inspector records the deliveries. */
  trace: DeliveryTrace | undefined = undefined;
  /** Present if no client published it. */
  internalSource: MqttOwnPublisher | undefined = undefined;
  /** From which its client published it, as `rateLimitKey`; empty if that is not known. */
  publisherAddress = "";
  /** The will of a client. */
  isWill = false;
  /** In a cluster: for each shared subscription that the publishing broker knew of, the broker that delivers for it. */
  groups: ReadonlyMap<string, string> | undefined = undefined;
  /** It was published at another broker. */
  fromElsewhere = false;
  /** In a cluster: for thousands of sessions of its own broker, which delivers it when it comes back from the journal. */
  comesBack = false;
  /** It came back. */
  isBack = false;
  /** In a cluster: its place in the journal, once it is delivered from there. */
  journalPlace: JournalPlace | undefined = undefined;
  /** Called when all deliveries of a message that `comesBack` were made. */
  whenRouted: (() => void) | undefined = undefined;
  /** Among all that were retained, if it was; a message that replaces another one has a higher number. */
  retainedOrder = 0;
  /** Its row in the session store, and the number of deliveries that reference it. */
  storedId = 0;
  storedUses = 0;
  /** Deliveries that wait or are in flight. */
  holds = 0;
  private compactedAlready = false;
  private encoded: (SharedRun | undefined)[] | undefined = undefined;

  constructor(fields: MessageFields) {
    this.topic = fields.topic;
    this.payload = fields.payload;
    this.qos = fields.qos;
    this.retain = fields.retain;
    this.forwarded = fields.forwarded ?? noBytes;
    this.expiresAt = fields.expiresAt ?? 0;
    this.publisherId = fields.publisherId ?? "";
  }

  /** Approximate memory held. */
  get bytes(): number {
    return textBytes(this.topic) + textBytes(this.publisherId) + this.payload.length + this.forwarded.length;
  }

  /** For messages that are kept: copies small buffers, which would otherwise keep a whole chunk in memory. */
  compact(): void {
    if (this.compactedAlready) return;
    this.compactedAlready = true;
    this.payload = compacted(this.payload);
    this.forwarded = compacted(this.forwarded);
  }

  /** All receivers were served: frees the encoded form; a later retransmission encodes it again. */
  routed(): void {
    this.isRouted = true;
    this.fannedOut = false;
    this.encoded = undefined;
    if (this.topic.length > heldTopicLength) this.topicBytes = undefined;
  }

  /** Seconds left, rounded up; -1 without expiry, 0 once expired. */
  secondsLeft(now: number): number {
    return this.expiresAt === 0 ? -1 : Math.max(0, Math.ceil((this.expiresAt - now) / 1_000));
  }

  /**
   * The common case of a message to several receivers: only the packet identifier, at `packetIdOffset`, depends on the receiver.
   */
  encodedFor(slab: SharedSlab, v5: boolean, qos: Qos, retain: boolean): SharedRun {
    const key = (v5 ? 4 : 0) | qos | (retain ? 8 : 0);
    this.encoded ??= [];
    const known = this.encoded[key];
    if (known && known.generation === slab.generation) return known;
    const options: DeliveryOptions = { v5, qos, retain, subscriptionIds: undefined, expirySeconds: -1, topicAlias: 0, withTopic: true };
    const run = slab.reserve(this.encodedLength(options));
    this.encodeInto(run.bytes, run.start, options, 0, false);
    this.encoded[key] = run;
    return run;
  }

  /** Where the packet identifier is in an encoded packet of `length` bytes that carries the topic. */
  packetIdOffset(length: number): number {
    // The length of the fixed header depends on the remaining length.
    const header = length <= 129 ? 2 : length <= 16_386 ? 3 : length <= 2_097_154 ? 4 : 5;
    return header + 2 + this.topicLength();
  }

  encodedLength(options: DeliveryOptions): number {
    const body = this.bodyLength(options);
    return 1 + variableLength(body) + body;
  }

  /** Writes the PUBLISH at `at`; `bytes` must have room for `encodedLength`. Returns the end position. */
  encodeInto(bytes: Buffer, at: number, options: DeliveryOptions, packetId: number, dup: boolean): number {
    const position = this.encodeHeadInto(bytes, at, options, packetId, dup);
    this.payload.copy(bytes, position);
    return position + this.payload.length;
  }

  /** The same without the payload. */
  encodeHeadInto(bytes: Buffer, at: number, options: DeliveryOptions, packetId: number, dup: boolean): number {
    const { qos, v5, withTopic } = options;
    let position = at;
    bytes[position++] = 0x30 | (dup ? 8 : 0) | (qos << 1) | (options.retain ? 1 : 0);
    position = putVariable(bytes, position, this.bodyLength(options));
    const topic = withTopic ? this.topicEncoded() : noBytes;
    bytes[position++] = topic.length >> 8;
    bytes[position++] = topic.length & 0xff;
    bytes.set(topic, position);
    position += topic.length;
    if (qos > 0) {
      bytes[position++] = packetId >> 8;
      bytes[position++] = packetId & 0xff;
    }
    return v5 ? this.putProperties(bytes, position, options) : position;
  }

  private putProperties(bytes: Buffer, at: number, options: DeliveryOptions): number {
    let position = putVariable(bytes, at, this.propertiesLength(options));
    if (this.forwarded.length > 0) position += this.forwarded.copy(bytes, position);
    if (options.expirySeconds >= 0) {
      bytes[position++] = 0x02;
      position = bytes.writeUInt32BE(options.expirySeconds, position);
    }
    if (options.topicAlias > 0) {
      bytes[position++] = 0x23;
      bytes[position++] = options.topicAlias >> 8;
      bytes[position++] = options.topicAlias & 0xff;
    }
    if (options.subscriptionIds) {
      for (const identifier of options.subscriptionIds) {
        bytes[position++] = 0x0b;
        position = putVariable(bytes, position, identifier);
      }
    }
    return position;
  }

  private propertiesLength({ expirySeconds, topicAlias, subscriptionIds }: DeliveryOptions): number {
    let length = this.forwarded.length + (expirySeconds >= 0 ? propertyLength.expiry : 0) + (topicAlias > 0 ? propertyLength.alias : 0);
    if (subscriptionIds) for (const identifier of subscriptionIds) length += 1 + variableLength(identifier);
    return length;
  }

  private bodyLength(options: DeliveryOptions): number {
    let length = 2 + (options.withTopic ? this.topicLength() : 0) + (options.qos > 0 ? 2 : 0) + this.payload.length;
    if (options.v5) {
      const properties = this.propertiesLength(options);
      length += variableLength(properties) + properties;
    }
    return length;
  }

  private topicLength(): number {
    return this.topicEncoded().length;
  }

  private topicEncoded(): Buffer {
    if (this.topicBytes) return this.topicBytes;
    const encoded = Buffer.from(this.topic, "utf8");
    if (this.topic.length <= heldTopicLength) this.topicBytes = encoded;
    return encoded;
  }
}
