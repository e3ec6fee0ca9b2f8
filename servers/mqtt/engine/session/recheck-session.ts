import type { Access, Identity } from "../connection/access.ts";
import { type SubscriptionParts, unsubscribe } from "../connection/subscribe-flow.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { EngineLog } from "../engine-observer.ts";
import type { Session } from "./session.ts";

export interface RecheckParts extends SubscriptionParts {
  readonly access: Pick<Access, "restricts" | "hiddenFrom" | "maySubscribe">;
  readonly log: EngineLog;
}

/** Applies the current rules to a resumed session: the topic rules or the user name may have changed since the client subscribed. */
export function recheckSession(parts: RecheckParts, session: Session, identity: Identity): void {
  const { access, log } = parts;
  session.hidden = access.hiddenFrom(identity);
  // The rules are those of the process: what the same user was allowed to is so also then.
  const isChecked = session.checkedFor !== undefined && session.checkedFor.username === identity.username;
  if (!access.restricts || isChecked) return;
  session.checkedFor = identity;
  const mayNot = (filter: string) => !access.maySubscribe(identity, filter);
  const refused = [...session.subscriptions.values()].filter(({ filter, group }) => mayNot(group?.filter ?? filter));
  for (const { filter } of refused) unsubscribe(parts, session, filter);
  const messages = withdraw(session, ({ message, state }) => state !== "awaiting pubcomp" && mayNot(message.topic));
  if (refused.length === 0 && messages === 0) return;
  log.info(
    `${session.clientId} no longer has the rights for ${refused.length} subscriptions and ${messages} messages of its session: they were removed.`,
  );
}

function withdraw(session: Session, picks: (delivery: Delivery) => boolean): number {
  const { inflight, queue } = session;
  const sent = inflight.inOrder().filter(picks);
  for (const { packetId } of sent) inflight.delete(packetId);
  const taken = [...sent, ...queue.take(picks)];
  for (const delivery of taken) session.store?.removed(session, delivery);
  return taken.length;
}
