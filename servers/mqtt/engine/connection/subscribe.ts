import { isSharedFilter, parseSharedFilter } from "../../codec/topic.ts";
import type { Engine } from "../engine.ts";
import { SharedGroup, Subscription, type SubscriptionOptions } from "../routing/subscription.ts";
import type { Session } from "../session/session.ts";

/** True where there was no such subscription before. */
export function subscribe(engine: Engine, session: Session, filter: string, options: SubscriptionOptions): boolean {
  const isNew = !session.subscriptions.has(filter);
  const group = groupOf(engine, filter);
  const subscription = new Subscription(session, filter, options, group);
  session.subscriptions.set(filter, subscription);
  if (group) group.add(subscription);
  else engine.trie.add(filter, session, subscription);
  session.store?.subscribed(session.clientId, filter, options);
  if (group) engine.cluster?.memberChanged(filter, session.clientId);
  return isNew;
}

/** Of a shared subscription, made for its first member. */
function groupOf({ groups, trie }: Engine, filter: string): SharedGroup | undefined {
  if (!isSharedFilter(filter)) return undefined;
  const known = groups.get(filter);
  if (known) return known;
  const shared = parseSharedFilter(filter);
  if (!shared) return undefined;
  const group = new SharedGroup(filter, shared.filter);
  groups.set(filter, group);
  trie.add(shared.filter, filter, group);
  return group;
}

/** False where there was none. */
export function unsubscribe({ groups, trie, cluster }: Engine, session: Session, filter: string): boolean {
  const subscription = session.subscriptions.get(filter);
  if (!subscription) return false;
  session.subscriptions.delete(filter);
  session.store?.unsubscribed(session.clientId, filter);
  const { group } = subscription;
  if (!group) {
    trie.remove(filter, session);
    return true;
  }
  group.remove(session);
  cluster?.memberChanged(filter, session.clientId);
  if (group.size === 0) {
    groups.delete(filter);
    trie.remove(group.filter, filter);
  }
  return true;
}
