import type { SubscribePacket, SubscriptionRequest, UnsubscribePacket } from "../../codec/packet.ts";
import { reasonCode } from "../../codec/reason-code.ts";
import { hasMoreLevels, hasWildcard, isLongName, isSharedFilter, mostLongNames, parseSharedFilter } from "../../codec/topic.ts";
import type { ClusterLink } from "../cluster-link.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";
import type { EngineObserver } from "../engine-observer.ts";
import { type FeedSource, RetainedFeed } from "../retained/retained-feed.ts";
import type { MessageBus, RetainedStore } from "../routing/message-bus.ts";
import type { SharedHandover } from "../routing/shared-handover.ts";
import { groupBytes, SharedGroup, Subscription, type SubscriptionOptions } from "../routing/subscription.ts";
import { mostBytesOf, ownBytesOf, type SubscriptionTrie } from "../routing/subscription-trie.ts";
import type { Session } from "../session/session.ts";
import type { Access } from "./access.ts";
import type { Connection } from "./connection.ts";

/** Dependencies for changing the subscriptions of all sessions. */
export interface SubscriptionParts {
  readonly counters: EngineCounters;
  readonly trie: SubscriptionTrie;
  readonly groups: Map<string, SharedGroup>;
  readonly cluster: Pick<ClusterLink, "memberChanged"> | undefined;
}

export interface SubscribeParts extends SubscriptionParts {
  readonly sessions: { readonly size: number };
  readonly handover: Pick<SharedHandover, "gather">;
  readonly limits: EngineLimits;
  readonly access: Pick<Access, "maySubscribe">;
  readonly bus: Pick<MessageBus, "retained">;
  readonly observer: EngineObserver;
}

/** MQTT 3.1.1 §3.9.3: its only failure code. */
const failure = 0x80;

export function handleSubscribe(parts: SubscribeParts, connection: Connection, packet: SubscribePacket): void {
  const { v5 } = connection;
  const session = connection.session as Session;
  if (v5 && session.received.has(packet.packetId)) {
    connection.send({
      type: "suback",
      packetId: packet.packetId,
      reasons: packet.subscriptions.map(() => reasonCode.packetIdentifierInUse),
    });
    return;
  }
  connection.inSteps(subscribeAll(parts, connection, session, packet));
}

/** A step for each filter, and the answer. */
function* subscribeAll(parts: SubscribeParts, connection: Connection, session: Session, packet: SubscribePacket) {
  const { v5 } = connection;
  const { retained } = parts.bus;
  const identifier = packet.properties?.subscriptionIdentifiers?.[0] ?? 0;
  const source = feedSource(retained, connection);
  const feeds: RetainedFeed[] = [];
  let text: string | undefined;
  /** Mostly those of all filters of a packet: kept once. */
  let last: { readonly request: SubscriptionRequest; readonly options: SubscriptionOptions } | undefined;
  const reasons: number[] = [];
  for (const request of packet.subscriptions) {
    if (reasons.length > 0) yield;
    const refusal = refusalOf(parts, connection, request.filter);
    if (refusal) {
      text = refusal.text;
      reasons.push(refusal.reason);
      continue;
    }
    if (!last || !isSameRequest(last.request, request)) last = { request, options: optionsOf(request, identifier, connection.bridge) };
    const { options } = last;
    const isNew = subscribe(parts, session, request.filter, options);
    // §3.3.1.3: never for a shared subscription; with handling 1 only for a new one.
    const asks = !isSharedFilter(request.filter) && (request.retainHandling === 0 || (request.retainHandling === 1 && isNew));
    // Those that are retained later come as messages.
    if (asks && mayHaveRetained(retained, request.filter)) feeds.push(new RetainedFeed(source, request.filter, retained.order, options));
    reasons.push(request.qos);
  }
  const properties =
    v5 && text !== undefined && connection.problemInformation && parts.limits.reasonStrings ? { reasonString: text } : undefined;
  const sent = v5 ? reasons : reasons.map((reason) => (reason < failure ? reason : failure));
  connection.send({ type: "suback", packetId: packet.packetId, properties, reasons: sent });
  parts.observer.subscribed?.(connection, packet.subscriptions, reasons, packet.properties);
  if (packet.subscriptions.some(({ filter }) => isSharedFilter(filter))) parts.handover.gather(session);
  // All at once: a search for each takes time, and they share the client's turn.
  session.feed(feeds);
}

const isSameRequest = (one: SubscriptionRequest, other: SubscriptionRequest): boolean =>
  one.qos === other.qos &&
  one.noLocal === other.noLocal &&
  one.retainAsPublished === other.retainAsPublished &&
  one.retainHandling === other.retainHandling;

const optionsOf = (
  { qos, noLocal, retainAsPublished, retainHandling }: SubscriptionRequest,
  identifier: number,
  bridge: boolean,
): SubscriptionOptions => ({
  qos,
  noLocal: noLocal || bridge,
  retainAsPublished: retainAsPublished || bridge,
  retainHandling,
  identifier,
});

const mayHaveRetained = (retained: Pick<RetainedStore, "count" | "has">, filter: string): boolean =>
  hasWildcard(filter) ? retained.count > 0 : retained.has(filter);

function feedSource(retained: RetainedStore, { clientId, session }: Connection): FeedSource {
  return {
    search: (filter, upTo) => retained.search(filter, upTo),
    // [MQTT5-3.8.3-3]
    accepts: (message, { noLocal }) => !session?.hidden?.(message.topic) && (!noLocal || message.publisherId !== clientId),
  };
}

function refusalOf(
  { limits, access, counters, trie, sessions }: SubscribeParts,
  connection: Connection,
  filter: string,
): { reason: number; text: string } | undefined {
  const { identity, session } = connection;
  const { topicLevels, subscriptions, subscriptionBytes, allSubscriptionBytes } = limits;
  const shared = isSharedFilter(filter) ? parseSharedFilter(filter) : undefined;
  if (isSharedFilter(filter) && !shared) return { reason: reasonCode.topicFilterInvalid, text: "The shared subscription is malformed." };
  if (hasMoreLevels(filter, topicLevels)) {
    return { reason: reasonCode.topicFilterInvalid, text: `A topic filter may have at most ${topicLevels} levels.` };
  }
  if (!access.maySubscribe(identity, shared?.filter ?? filter)) {
    return { reason: reasonCode.notAuthorized, text: "The topic rules do not allow it." };
  }
  if (!session) return undefined;
  if (session.waitingFeeds >= subscriptions) {
    return { reason: reasonCode.quotaExceeded, text: `The retained messages of ${subscriptions} subscriptions are still to be sent.` };
  }
  if (session.subscriptions.has(filter)) return undefined;
  if (session.subscriptions.size >= subscriptions) {
    return { reason: reasonCode.quotaExceeded, text: `A client may have at most ${subscriptions} subscriptions.` };
  }
  if (isLongName(filter) && counters.longFilters >= mostLongNames)
    return { reason: reasonCode.quotaExceeded, text: "There are as many filters of this length as there may be." };
  const bytes = session.subscriptionBytes + shareOf(filter);
  if (bytes > subscriptionBytes) {
    return { reason: reasonCode.quotaExceeded, text: `The filters of a client may take at most ${subscriptionBytes} bytes together.` };
  }
  // Who has few may have more also then.
  if (counters.subscriptionBytes + trie.heldBytes > allSubscriptionBytes && bytes > allSubscriptionBytes / sessions.size) {
    return { reason: reasonCode.quotaExceeded, text: "The subscriptions of all clients take the memory that there is for them." };
  }
  return undefined;
}

export function handleUnsubscribe(parts: SubscribeParts, connection: Connection, packet: UnsubscribePacket): void {
  const { v5 } = connection;
  const session = connection.session as Session;
  if (v5 && session.received.has(packet.packetId)) {
    connection.send({ type: "unsuback", packetId: packet.packetId, reasons: packet.filters.map(() => reasonCode.packetIdentifierInUse) });
    return;
  }
  connection.inSteps(unsubscribeAll(parts, connection, session, packet));
}

/** A step for each filter, and the answer. */
function* unsubscribeAll(parts: SubscribeParts, connection: Connection, session: Session, packet: UnsubscribePacket) {
  const reasons: number[] = [];
  for (const filter of packet.filters) {
    if (reasons.length > 0) yield;
    reasons.push(unsubscribe(parts, session, filter) ? reasonCode.success : reasonCode.noSubscriptionExisted);
  }
  connection.send({ type: "unsuback", packetId: packet.packetId, reasons });
  parts.observer.unsubscribed?.(connection, packet.filters, packet.properties);
}

/** What a subscription counts in its session: as if no other one had the nodes of the tree or the group that it needs. */
const shareOf = (filter: string): number => mostBytesOf(filter) + (isSharedFilter(filter) ? groupBytes : 0);

/** True if the subscription is new. */
export function subscribe(parts: SubscriptionParts, session: Session, filter: string, options: SubscriptionOptions): boolean {
  const known = session.subscriptions.get(filter);
  const isNew = !known;
  const group = groupOf(parts, filter);
  // One text for all renewals: deliveries hold the subscription that they are of.
  const subscription = new Subscription(session, known?.filter ?? filter, options, group);
  subscription.storedId = known?.storedId ?? 0;
  session.subscriptions.set(filter, subscription);
  if (isNew) {
    parts.counters.subscriptions++;
    if (isLongName(filter)) parts.counters.longFilters++;
    parts.counters.subscriptionBytes += ownBytesOf(filter);
    session.subscriptionBytes += shareOf(filter);
  }
  if (group) {
    group.add(subscription);
    session.groups ??= new Set();
    session.groups.add(group);
  } else parts.trie.add(filter, session, subscription);
  session.store?.subscribed(session, subscription);
  if (group) parts.cluster?.memberChanged(filter, session.clientId);
  return isNew;
}

/** The group of a shared subscription; created for its first member. */
function groupOf({ groups, trie, counters }: SubscriptionParts, filter: string): SharedGroup | undefined {
  if (!isSharedFilter(filter)) return undefined;
  const known = groups.get(filter);
  if (known) return known;
  const shared = parseSharedFilter(filter);
  if (!shared) return undefined;
  const group = new SharedGroup(filter, shared.filter);
  groups.set(filter, group);
  counters.subscriptionBytes += groupBytes;
  trie.add(shared.filter, filter, group);
  return group;
}

/** False if there was no such subscription. */
export function unsubscribe({ counters, groups, trie, cluster }: SubscriptionParts, session: Session, filter: string): boolean {
  const subscription = session.subscriptions.get(filter);
  if (!subscription) return false;
  session.subscriptions.delete(filter);
  session.endFeed(filter);
  counters.subscriptionBytes -= ownBytesOf(filter);
  session.subscriptionBytes -= shareOf(filter);
  counters.subscriptions--;
  if (isLongName(filter)) counters.longFilters--;
  session.store?.unsubscribed(session, filter);
  const { group } = subscription;
  if (!group) {
    trie.remove(filter, session);
    return true;
  }
  group.remove(session);
  session.groups?.delete(group);
  cluster?.memberChanged(filter, session.clientId);
  if (group.size === 0) {
    groups.delete(filter);
    counters.subscriptionBytes -= groupBytes;
    trie.remove(group.filter, filter);
  }
  return true;
}
