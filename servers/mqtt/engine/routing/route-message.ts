import type { ClusterLink } from "../cluster-link.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { EngineObserver } from "../engine-observer.ts";
import type { Broadcasts } from "./broadcasts.ts";
import type { Message } from "./message.ts";
import { Overlap, type SharedGroup, type Subscription } from "./subscription.ts";
import type { Match, SubscriptionTrie } from "./subscription-trie.ts";

export interface RoutingParts {
  readonly trie: SubscriptionTrie;
  readonly cluster: Pick<ClusterLink, "routeShared" | "journalFirst"> | undefined;
  readonly observer: EngineObserver;
  readonly scheduler: Pick<FlushScheduler, "expectMuch">;
  readonly broadcasts: Pick<Broadcasts, "add" | "holds">;
}

/** To write more at once makes others wait. */
const mostBytesAtOnce = 2 << 20;

/** A message for more sessions and shared groups is delivered over several turns of the event loop: each takes up to 20 µs. */
export const fewReceivers = 256;
/** Deliveries of many bytes between two words about it. */
const deliveriesOfMuch = 64;

/** Nodes of the tree of subscriptions that take as long to look at as a delivery. */
const visitsOfStep = 32;

export const isMuch = (subscribers: number, bytes: number): boolean => subscribers * bytes > mostBytesAtOnce;

/** What the router did for a message, in deliveries. To choose the broker for a shared group of a cluster, and to send the choice, takes as long as one. */
export const stepsOfRouting = ({ matched, visited, groups }: Pick<Message, "matched" | "visited" | "groups">): number =>
  matched + visited / visitsOfStep + (groups?.size ?? 0);

/** The broker has published an answer to the message: a client that causes it waits as if it had published it. */
export function countAnswer(message: Message, answer: Message): void {
  // What is delivered in steps is a step at least: then the client waits until it is done.
  message.answerSteps += stepsOfRouting(answer) + (answer.isRouted ? 0 : 1);
  if (isMuch(answer.matched, answer.payload.length)) message.answersAreMuch = true;
}

/**
 * Delivers to every session that has a matching subscription (MQTT §3.3.4). What is for thousands, or whose subscriptions take long to find, is delivered in
 * steps: by the message's publisher, where it says so, or else by `Broadcasts`. In a cluster sessions take what they keep to another broker, with the place
 * in the journal of the last message that they have: such a message is delivered when it is in the journal.
 */
export function routeMessage(parts: RoutingParts, message: Message): void {
  const { trie, cluster, scheduler, broadcasts } = parts;
  const isOfJournal = message.fromElsewhere || message.isBack;
  // A publisher that takes turns has prepared the search.
  const isQuick = message.publisherTakesTurns || trie.isQuick(message.topic);
  if (cluster && message.qos > 0 && !isOfJournal) {
    const isForFew = isQuick && trie.receiversOf(message.topic) <= fewReceivers;
    if (!isForFew && cluster.journalFirst(message)) return;
  }
  // Groups of a cluster are chosen with the message, before it is sent to the other brokers.
  if (!isQuick && (!cluster || isOfJournal)) {
    broadcasts.add(message.topic, findInSteps(parts, message));
    return;
  }
  const match = matchOf(trie, message);
  const { subscriptions } = match;
  const groups = cluster ? [] : match.groups;
  const isForFew = subscriptions.length + groups.length <= fewReceivers;
  if (isForFew && (message.publisherTakesTurns || !broadcasts.holds(message.topic))) {
    if (isMuch(subscriptions.length, message.payload.length)) scheduler.expectMuch();
    deliverToAll(subscriptions, message);
    cluster?.routeShared(message, match.groups);
    for (let index = 0; index < groups.length; index++) deliverToOne(groups[index] as SharedGroup, message);
    endRouting(parts, message);
    return;
  }
  if (!isOfJournal) cluster?.routeShared(message, match.groups);
  const deliveries = deliverInSteps(parts, match, message);
  if (message.publisherTakesTurns) message.undelivered = deliveries;
  else broadcasts.add(message.topic, deliveries);
}

function matchOf(trie: SubscriptionTrie, message: Message): Match {
  const match = trie.match(message.topic);
  message.topicBytes = match.topicBytes;
  message.visited = trie.visited;
  message.fannedOut = match.subscriptions.length > 1;
  return match;
}

function* findInSteps(parts: RoutingParts, message: Message): Generator<undefined, void> {
  yield* parts.trie.prepare(message.topic);
  yield* deliverInSteps(parts, matchOf(parts.trie, message), message);
}

/** A step for each delivery. */
function* deliverInSteps(
  parts: RoutingParts,
  { subscriptions, groups }: Pick<Match, "subscriptions" | "groups">,
  message: Message,
): Generator<undefined, void> {
  const { cluster } = parts;
  const areMuch = isMuch(subscriptions.length, message.payload.length);
  for (let index = 0; index < subscriptions.length; index++) {
    if (areMuch && index % deliveriesOfMuch === 0) parts.scheduler.expectMuch();
    deliver(subscriptions[index] as Subscription | Overlap, message);
    yield;
  }
  // In the commit that says that this broker has delivered the message: whoever takes over from it delivers to its groups again until then.
  if (message.fromElsewhere || message.isBack) cluster?.routeShared(message, groups);
  for (const group of cluster ? [] : groups) {
    deliverToOne(group, message);
    yield;
  }
  message.undelivered = undefined;
  endRouting(parts, message);
}

function endRouting({ observer }: RoutingParts, message: Message): void {
  message.routed();
  observer.routed?.(message);
  message.whenRouted?.();
}

/** False if no member can take the message. */
export function deliverToOne(group: SharedGroup, message: Message): boolean {
  const member = group.pick(message);
  if (!member) return false;
  message.matched++;
  deliverTo(member, message);
  return true;
}

/** [MQTT5-4.8.2-3]: with the subscription options of this member. */
export function deliverTo(member: Subscription, message: Message): void {
  const { options, session, identifiers } = member;
  const qos = message.qos < options.qos ? message.qos : options.qos;
  session.deliver(message, qos, message.retain && options.retainAsPublished, identifiers, member);
}

/** [MQTT5-3.3.4-2] to -5: once to each session. */
function deliverToAll(subscriptions: Match["subscriptions"], message: Message): void {
  for (let index = 0; index < subscriptions.length; index++) deliver(subscriptions[index] as Subscription | Overlap, message);
}

/** To the session of the subscriptions, as these want it. */
export function deliver(matching: Subscription | Overlap, message: Message): void {
  let found = matching;
  if (found.session.hasEnded) return;
  // [MQTT5-3.8.3-3]
  if (found.options.noLocal && found.session.clientId === message.publisherId) {
    const own = found instanceof Overlap ? found.ofItself() : undefined;
    if (!own) return;
    found = own;
  }
  const { session, options, identifiers } = found;
  message.matched++;
  const qos = message.qos < options.qos ? message.qos : options.qos;
  session.deliver(message, qos, message.retain && options.retainAsPublished, identifiers, undefined);
}
