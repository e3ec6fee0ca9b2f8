import type { SubscribePacket, UnsubscribePacket } from "../../codec/packet.ts";
import { reasonCode } from "../../codec/reason-code.ts";
import { hasMoreLevels, isSharedFilter, parseSharedFilter } from "../../codec/topic.ts";
import { RetainedFeed } from "../retained/retained-feed.ts";
import { gatherShared } from "../routing/shared-handover.ts";
import type { SubscriptionOptions } from "../routing/subscription.ts";
import type { Session } from "../session/session.ts";
import type { Connection } from "./connection.ts";
import { subscribe, unsubscribe } from "./subscribe.ts";

/** MQTT 3.1.1 §3.9.3: the only failure that it knows. */
const failure = 0x80;

export function handleSubscribe(connection: Connection, packet: SubscribePacket): void {
  const { engine, v5 } = connection;
  const session = connection.session as Session;
  if (v5 && session.received.has(packet.packetId)) {
    connection.send({
      type: "suback",
      packetId: packet.packetId,
      reasons: packet.subscriptions.map(() => reasonCode.packetIdentifierInUse),
    });
    return;
  }
  const identifier = packet.properties?.subscriptionIdentifiers?.[0] ?? 0;
  const wanted: { filter: string; options: SubscriptionOptions }[] = [];
  let text: string | undefined;
  const reasons = packet.subscriptions.map((request) => {
    const refusal = refusalOf(connection, request.filter);
    if (refusal) {
      text = refusal.text;
      return refusal.reason;
    }
    const options: SubscriptionOptions = {
      qos: request.qos,
      noLocal: request.noLocal || connection.bridge,
      retainAsPublished: request.retainAsPublished || connection.bridge,
      retainHandling: request.retainHandling,
      identifier,
    };
    const isNew = subscribe(engine, session, request.filter, options);
    // §3.3.1.3: never for a shared subscription; with handling 1 only for a new one.
    const retained = !isSharedFilter(request.filter) && (request.retainHandling === 0 || (request.retainHandling === 1 && isNew));
    if (retained) wanted.push({ filter: request.filter, options });
    return request.qos;
  });
  const properties =
    v5 && text !== undefined && connection.problemInformation && engine.limits.reasonStrings ? { reasonString: text } : undefined;
  const told = v5 ? reasons : reasons.map((reason) => (reason < failure ? reason : failure));
  connection.send({ type: "suback", packetId: packet.packetId, properties, reasons: told });
  engine.observer.subscribed?.(session, packet.subscriptions, reasons);
  if (packet.subscriptions.some(({ filter }) => isSharedFilter(filter))) gatherShared(engine, session);
  for (const { filter, options } of wanted) sendRetained(connection, filter, options);
}

function sendRetained({ engine, clientId, session }: Connection, filter: string, { qos, noLocal, identifier }: SubscriptionOptions): void {
  const find = () => {
    const hidden = session?.hidden;
    const matching = engine.bus.retained.matching(filter);
    const found = hidden ? matching.filter(({ topic }) => !hidden(topic)) : matching;
    // [MQTT5-3.8.3-3]
    return noLocal ? found.filter(({ publisherId }) => publisherId !== clientId) : found;
  };
  session?.feed(new RetainedFeed(find, qos, identifier > 0 ? [identifier] : undefined));
}

function refusalOf(connection: Connection, filter: string): { reason: number; text: string } | undefined {
  const { engine, identity, session } = connection;
  const { topicLevels, subscriptions } = engine.limits;
  const shared = isSharedFilter(filter) ? parseSharedFilter(filter) : undefined;
  if (isSharedFilter(filter) && !shared)
    return { reason: reasonCode.topicFilterInvalid, text: "The shared subscription is not well formed." };
  if (hasMoreLevels(filter, topicLevels)) {
    return { reason: reasonCode.topicFilterInvalid, text: `A topic filter has at most ${topicLevels} levels here.` };
  }
  if (!engine.access.maySubscribe(identity, shared?.filter ?? filter)) {
    return { reason: reasonCode.notAuthorized, text: "The topic rules do not allow it." };
  }
  if (session && session.subscriptions.size >= subscriptions && !session.subscriptions.has(filter)) {
    return { reason: reasonCode.quotaExceeded, text: `A client has at most ${subscriptions} subscriptions here.` };
  }
  return undefined;
}

export function handleUnsubscribe(connection: Connection, packet: UnsubscribePacket): void {
  const { engine, v5 } = connection;
  const session = connection.session as Session;
  if (v5 && session.received.has(packet.packetId)) {
    connection.send({ type: "unsuback", packetId: packet.packetId, reasons: packet.filters.map(() => reasonCode.packetIdentifierInUse) });
    return;
  }
  const reasons = packet.filters.map((filter) =>
    unsubscribe(engine, session, filter) ? reasonCode.success : reasonCode.noSubscriptionExisted,
  );
  connection.send({ type: "unsuback", packetId: packet.packetId, reasons });
  engine.observer.unsubscribed?.(session, packet.filters);
}
