import { isUtf8 } from "node:buffer";
import type { PublishPacket } from "../../codec/packet.ts";
import { PacketError, type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import { hasMoreLevels, isReservedTopic, textBytes } from "../../codec/topic.ts";
import type { ClusterLink } from "../cluster-link.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";
import type { EngineObserver } from "../engine-observer.ts";
import type { RetainedRoom } from "../retained/retained-room.ts";
import { Message } from "../routing/message.ts";
import { fewReceivers } from "../routing/route-message.ts";
import type { SubscriptionTrie } from "../routing/subscription-trie.ts";
import type { Session } from "../session/session.ts";
import { steadyNow } from "../steady-clock.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./connection.ts";

export interface PublishParts {
  readonly limits: EngineLimits;
  readonly access: Pick<Access, "mayPublish">;
  readonly counters: EngineCounters;
  readonly trie: Pick<SubscriptionTrie, "isQuick" | "prepare" | "receiversOf">;
  readonly sessions: { readonly size: number };
  readonly observer: EngineObserver;
  readonly cluster: ClusterLink | undefined;
  readonly retainedRoom: Pick<RetainedRoom, "makeFor">;
  /** Stores it if it is to be retained, and routes it. */
  publish(message: Message): void;
}

/** Checks, routes and acknowledges a client's PUBLISH. */
export function handlePublish(parts: PublishParts, connection: Connection, packet: PublishPacket): void {
  const session = connection.session as Session;
  const { qos, packetId, properties } = packet;
  connection.messagesIn++;
  connection.rate.messages++;
  parts.counters.messagesIn++;
  const topic = resolveTopic(connection, packet, parts.limits.topicAliasMaximum);
  if (qos > 0 && session.received.has(packetId)) {
    if (qos === 2) {
      // [MQTT5-4.3.3-10]: a duplicate; the message was routed when it arrived first.
      connection.leftOpen?.release(packetId);
      connection.sendAck("pubrec", packetId, 0);
      return;
    }
    if (connection.v5) {
      connection.sendAck("puback", packetId, reasonCode.packetIdentifierInUse, "The packet identifier is in use by a QoS 2 message.");
      return;
    }
  }
  // [MQTT5-3.3.4-7]
  if (qos > 0 && connection.v5 && openExchanges(connection, session) >= parts.limits.receiveMaximum) {
    throw new PacketError(reasonCode.receiveMaximumExceeded, "The number of unacknowledged messages exceeds the receive maximum.");
  }
  const message = new Message({
    topic,
    // A view of the received chunk, which is never reused; code that keeps the message calls `compact`.
    payload: packet.payload,
    qos,
    retain: packet.retain,
    forwarded: properties?.forwarded,
    expiresAt: properties?.messageExpiryInterval === undefined ? 0 : steadyNow() + properties.messageExpiryInterval * 1_000,
    publisherId: connection.clientId,
  });
  message.publisherAddress = session.address;
  const refusal = refusalOf(parts, connection, packet, message);
  if (refusal) {
    parts.observer.publishRefused?.(connection, topic, refusal.text);
    if (qos === 0) {
      // §3.3.2.3.2
      if (refusal.reason === reasonCode.payloadFormatInvalid) throw new PacketError(refusal.reason, refusal.text);
      return;
    }
    // [MQTT-3.3.5-2]: 3.1.1 has no negative acknowledgement, so the answer is positive, and a QoS 2 exchange is completed.
    if (!connection.v5 && qos === 2) keepIdentifier(parts, session, packetId);
    connection.sendAck(qos === 1 ? "puback" : "pubrec", packetId, refusal.reason, refusal.text);
    return;
  }
  if (parts.trie.isQuick(topic)) begin(parts, connection, packet, message);
  else connection.inSteps(beginInSteps(parts, connection, packet, message));
}

/** To find the subscriptions takes long. */
function* beginInSteps(parts: PublishParts, connection: Connection, packet: PublishPacket, message: Message) {
  yield* parts.trie.prepare(message.topic);
  begin(parts, connection, packet, message);
}

function begin(parts: PublishParts, connection: Connection, packet: PublishPacket, message: Message): void {
  if (parts.trie.receiversOf(message.topic) > fewReceivers) connection.turn.broadcast(routeToMany(parts, connection, packet, message));
  else {
    route(parts, connection, packet, message);
    acknowledgeRouted(parts, connection, packet, message);
  }
}

/** Some of them at a time; also when the client has left meanwhile. */
function* routeToMany(parts: PublishParts, connection: Connection, packet: PublishPacket, message: Message) {
  // Subscriptions may have changed while it waited for its turn.
  if (!parts.trie.isQuick(message.topic)) yield* parts.trie.prepare(message.topic);
  route(parts, connection, packet, message);
  for (const deliveries = message.undelivered; deliveries && !deliveries.next().done; ) yield;
  acknowledgeRouted(parts, connection, packet, message);
}

function route(parts: PublishParts, connection: Connection, packet: PublishPacket, message: Message): void {
  const session = connection.session as Session;
  if (packet.qos === 2) {
    keepIdentifier(parts, session, packet.packetId);
    session.store?.received(session, packet.packetId);
  }
  parts.observer.published?.(message, connection, packet);
  message.publisherTakesTurns = true;
  parts.publish(message);
}

/** Now, or when it has come back from the journal of a cluster and was delivered; the next packets of its publisher wait until then. */
function acknowledgeRouted(parts: PublishParts, connection: Connection, packet: PublishPacket, message: Message): void {
  if (!message.comesBack || message.isRouted) {
    acknowledge(parts, connection, packet, message);
    return;
  }
  connection.turn.holdUntil((then) => {
    message.whenRouted = () => {
      connection.run(() => acknowledge(parts, connection, packet, message));
      then();
    };
  });
}

function acknowledge(parts: PublishParts, connection: Connection, { qos, packetId, payload }: PublishPacket, message: Message): void {
  connection.published(message, payload.length);
  if (qos === 0) return;
  // §3.4.2.1, §3.5.2.1; the subscriptions at other brokers are unknown here.
  const reason = message.matched === 0 && !parts.cluster ? reasonCode.noMatchingSubscribers : reasonCode.success;
  connection.sendAck(qos === 1 ? "puback" : "pubrec", packetId, reason);
}

/** A session may have 65,535 of them for ever, and 3.1.1 has no receive maximum. */
function keepIdentifier({ counters, limits, sessions }: PublishParts, session: Session, packetId: number): void {
  session.receive(packetId);
  const { allSessionBytes } = limits;
  if (counters.sessionBytes > allSessionBytes && session.heldBytes > allSessionBytes / sessions.size)
    throw new PacketError(reasonCode.quotaExceeded, "The session's unreleased packet identifiers take more memory than its share.");
}

/** §4.9: identifiers that an earlier connection did not release do not count. */
const openExchanges = (connection: Connection, session: Session): number => session.received.size - (connection.leftOpen?.size ?? 0);

/** MQTT 5.0 §3.3.2.3.4 */
function resolveTopic(connection: Connection, packet: PublishPacket, topicAliasMaximum: number): string {
  const alias = packet.properties?.topicAlias;
  if (alias === undefined) return packet.topic;
  if (alias > topicAliasMaximum) {
    throw new PacketError(reasonCode.topicAliasInvalid, `The topic alias ${alias} is above the maximum.`);
  }
  connection.topicAliases ??= [];
  if (packet.topic !== "") {
    connection.aliasBytes += textBytes(packet.topic) - textBytes(connection.topicAliases[alias] ?? "");
    connection.topicAliases[alias] = packet.topic;
    return packet.topic;
  }
  const topic = connection.topicAliases[alias];
  if (topic === undefined) throw new PacketError(reasonCode.protocolError, `The topic alias ${alias} has no topic.`);
  return topic;
}

interface Refusal {
  readonly reason: ReasonCode;
  readonly text: string;
}

function refusalOf(
  parts: PublishParts,
  connection: Connection,
  { properties, payload }: PublishPacket,
  message: Message,
): Refusal | undefined {
  const { limits, access } = parts;
  const { topic } = message;
  if (isReservedTopic(topic)) {
    return { reason: reasonCode.notAuthorized, text: "Clients may not publish to this topic." };
  }
  if (!access.mayPublish(connection.identity, topic)) return { reason: reasonCode.notAuthorized, text: "The topic rules do not allow it." };
  const { topicLevels } = limits;
  if (hasMoreLevels(topic, topicLevels)) {
    return { reason: reasonCode.topicNameInvalid, text: `A topic may have at most ${topicLevels} levels.` };
  }
  if (properties?.payloadFormatIndicator === 1 && !isUtf8(payload)) {
    return { reason: reasonCode.payloadFormatInvalid, text: "The payload is not UTF-8." };
  }
  // Without a reason code for it (3.1.1, QoS 0), the message is routed but not retained.
  if (message.retain && connection.v5 && message.qos > 0 && !parts.retainedRoom.makeFor(message)) {
    return { reason: reasonCode.quotaExceeded, text: "The limit of retained messages is reached." };
  }
  return undefined;
}
