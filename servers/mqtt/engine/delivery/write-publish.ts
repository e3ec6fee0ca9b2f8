import type { Qos } from "../../codec/packet.ts";
import type { DeliveryOptions, Message } from "../routing/message.ts";
import { steadyNow } from "../steady-clock.ts";
import type { Output } from "./output.ts";
import type { SentAliases } from "./sent-aliases.ts";
import type { SharedRun } from "./shared-slab.ts";

export type SendResult = "sent" | "expired" | "too large";

/** Properties of the receiver, from its CONNECT. */
export interface PublishTarget {
  readonly output: Output;
  readonly v5: boolean;
  /** 0 is no limit. */
  readonly maximumPacketSize: number;
  /** Undefined if it accepts none. */
  readonly sentAliases: SentAliases | undefined;
}

/** The arguments of `writePublish` after the target. */
export type PublishArguments = Parameters<typeof writePublish> extends [PublishTarget, ...infer Rest] ? Rest : never;

/** A larger payload is not copied: it is written behind what is different for each receiver. */
const copiedPayloadBytes = 16_384;

/** Reused for each message, so that a delivery allocates nothing. */
const options: { -readonly [Name in keyof DeliveryOptions]: DeliveryOptions[Name] } = {
  v5: false,
  qos: 0,
  retain: false,
  subscriptionIds: undefined,
  expirySeconds: -1,
  topicAlias: 0,
  withTopic: true,
};

/** Writes a PUBLISH into the target's output, unless it has expired or exceeds the client's maximum packet size. */
export function writePublish(
  target: PublishTarget,
  message: Message,
  qos: Qos,
  retain: boolean,
  identifiers: readonly number[] | undefined,
  packetId: number,
  dup: boolean,
): SendResult {
  const { v5, output, maximumPacketSize } = target;
  const expirySeconds = message.expiresAt === 0 ? -1 : message.secondsLeft(steadyNow());
  // [MQTT5-3.3.2-5], [MQTT5-4.3.3-7]: applies only to a message that was not sent yet.
  if (expirySeconds === 0 && !dup) return "expired";
  const isLarge = message.payload.length > copiedPayloadBytes;
  if (message.fannedOut && !(isLarge && qos > 0) && (!v5 || (identifiers === undefined && expirySeconds < 0 && !target.sentAliases))) {
    const run = message.encodedFor(output.sharedSlab, v5, qos, retain);
    if (maximumPacketSize > 0 && run.end - run.start > maximumPacketSize) return "too large";
    if (qos === 0) output.putShared(run);
    else putWithId(output, run, message.packetIdOffset(run.end - run.start), packetId, dup);
    return "sent";
  }
  const length = measure(target, message, qos, retain, identifiers, expirySeconds);
  if (maximumPacketSize > 0 && length > maximumPacketSize) return "too large";
  if (options.withTopic && options.topicAlias > 0) target.sentAliases?.set(message.topic, options.topicAlias);
  if (isLarge) {
    const head = output.sharedSlab.reserve(length - message.payload.length);
    message.encodeHeadInto(head.bytes, head.start, options, packetId, dup);
    output.putParts(head, message.payload);
  } else {
    const slab = output.reserve(length);
    output.end = message.encodeInto(slab, output.end, options, packetId, dup);
  }
  return "sent";
}

/** Whether the packet fits the client's maximum packet size; for a shared subscription, another member may accept it. */
export function fits(target: PublishTarget, message: Message, qos: Qos, identifiers: readonly number[] | undefined): boolean {
  if (target.maximumPacketSize === 0) return true;
  const expirySeconds = message.expiresAt === 0 ? -1 : 0;
  return measure(target, message, qos, false, identifiers, expirySeconds) <= target.maximumPacketSize;
}

/** Fills `options`; returns the length of the packet. */
function measure(
  { v5, sentAliases, maximumPacketSize }: PublishTarget,
  message: Message,
  qos: Qos,
  retain: boolean,
  identifiers: readonly number[] | undefined,
  expirySeconds: number,
): number {
  options.v5 = v5;
  options.qos = qos;
  options.retain = retain;
  options.subscriptionIds = v5 ? identifiers : undefined;
  options.expirySeconds = v5 ? expirySeconds : -1;
  const known = sentAliases?.get(message.topic);
  options.topicAlias = known ?? sentAliases?.next(message.topic) ?? 0;
  options.withTopic = known === undefined;
  const length = message.encodedLength(options);
  if (maximumPacketSize === 0 || length <= maximumPacketSize || options.topicAlias === 0) return length;
  // A topic alias adds bytes to the first packet; without it the packet may fit.
  options.topicAlias = 0;
  options.withTopic = true;
  return message.encodedLength(options);
}

/** Copies the shared bytes, and sets this receiver's packet identifier and DUP flag. */
function putWithId(output: Output, { view }: SharedRun, packetIdOffset: number, packetId: number, dup: boolean): void {
  const slab = output.reserve(view.length);
  const at = output.end;
  slab.set(view, at);
  output.end = at + view.length;
  if (dup) slab[at] = (slab[at] as number) | 8;
  const place = at + packetIdOffset;
  slab[place] = packetId >> 8;
  slab[place + 1] = packetId & 0xff;
}
