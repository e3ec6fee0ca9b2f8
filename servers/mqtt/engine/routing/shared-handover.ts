/** MQTT 5.0 §4.8.2: what a lost member of a shared subscription did not acknowledge goes to another. */
import type { Delivery } from "../delivery/delivery.ts";
import type { Engine } from "../engine.ts";
import type { Session } from "../session/session.ts";
import { deliverTo } from "./route-message.ts";
import type { Subscription } from "./subscription.ts";

export function redistribute(engine: Engine, session: Session): void {
  const ended = !engine.sessions.has(session.clientId);
  const moves = ({ group, filter }: Subscription) =>
    ended ||
    group?.pick(undefined, session)?.session.connection !== undefined ||
    engine.cluster?.hasConnectedMemberElsewhere(filter) === true;
  handOn(engine, session, takeShared(session, moves));
}

/** What waits for absent members of the session's shared subscriptions goes to this one, which is there. */
export function gatherShared(engine: Engine, session: Session): void {
  for (const { group } of session.subscriptions.values()) {
    if (!group) continue;
    for (const absent of group.away())
      handOn(
        engine,
        absent,
        takeShared(absent, (subscription) => subscription.group === group),
      );
  }
}

/** All that waits, and QoS 1 that was not acknowledged; a QoS 2 message that was sent stays. */
function takeShared({ clientId, inflight, queue, store }: Session, moves: (subscription: Subscription) => boolean): Delivery[] {
  if (inflight.size === 0 && queue.length === 0) return [];
  const isTheirs = ({ shared }: Delivery) => shared !== undefined && moves(shared);
  const sent = inflight.inOrder().filter((delivery) => delivery.state === "awaiting puback" && isTheirs(delivery));
  for (const delivery of sent) inflight.delete(delivery.packetId);
  const taken = [...sent, ...queue.take(isTheirs)];
  for (const delivery of taken) store?.removed(clientId, delivery);
  return taken;
}

function handOn({ groups, cluster }: Engine, from: Session, deliveries: readonly Delivery[]): void {
  for (const { message, shared } of deliveries) {
    const group = shared?.filter ?? "";
    const next = groups.get(group)?.pick(message, from);
    if (!next?.session.connection && cluster?.handOn(group, message, next !== undefined)) continue;
    if (next) deliverTo(next, message);
    else from.drop(message, "session ended");
  }
}
