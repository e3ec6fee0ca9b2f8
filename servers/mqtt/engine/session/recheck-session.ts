import { resultOf } from "../../../core/turns/work-connection.ts";
import type { Access, Identity } from "../connection/access.ts";
import { type SubscriptionParts, unsubscribe } from "../connection/subscribe-flow.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { EngineLog } from "../engine-observer.ts";
import type { Session } from "./session.ts";

export interface RecheckParts extends SubscriptionParts {
  readonly access: Pick<Access, "restricts" | "hiddenFrom" | "maySubscribe">;
  readonly log: EngineLog;
}

/** The rules are those of the process: what the same user was allowed to is so also then. */
export const mustRecheck = ({ access }: RecheckParts, { checkedFor }: Session, identity: Identity): boolean =>
  access.restricts && (checkedFor === undefined || checkedFor.username !== identity.username);

/** Applies the current rules to a resumed session: the topic rules or the user name may have changed since the client subscribed. */
export function recheckSession(parts: RecheckParts, session: Session, identity: Identity): void {
  resultOf(recheckInSteps(parts, session, identity));
}

/** A step for each of its filters and topics, of which there may be thousands. What is published meanwhile does not get around the rules. */
export function* recheckInSteps(parts: RecheckParts, session: Session, identity: Identity): Generator<undefined, void> {
  const { access, log } = parts;
  session.hidden = access.hiddenFrom(identity);
  if (!mustRecheck(parts, session, identity)) return;
  const mayNot = (filter: string) => !access.maySubscribe(identity, filter);
  let refused = 0;
  for (const { filter, group } of session.subscriptions.values()) {
    if (mayNot(group?.filter ?? filter) && unsubscribe(parts, session, filter)) refused++;
    yield;
  }
  const denied = new Map<string, boolean>();
  for (const topic of new Set([...session.deliveries()].map(({ message }) => message.topic))) {
    denied.set(topic, mayNot(topic));
    yield;
  }
  session.checkedFor = identity;
  // What came meanwhile has its topic asked for here.
  const isDenied = (topic: string) => denied.get(topic) ?? mayNot(topic);
  const messages = withdraw(session, ({ message, state }) => state !== "awaiting pubcomp" && isDenied(message.topic));
  if (refused === 0 && messages === 0) return;
  log.info(
    `${session.clientId} no longer has the rights for ${refused} subscriptions and ${messages} messages of its session: they were removed.`,
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
