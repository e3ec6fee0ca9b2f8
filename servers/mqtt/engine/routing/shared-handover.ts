import type { ClusterLink } from "../cluster-link.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Session } from "../session/session.ts";
import { deliverTo } from "./route-message.ts";
import type { SharedGroup, Subscription } from "./subscription.ts";

export interface HandoverParts {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly groups: ReadonlyMap<string, SharedGroup>;
  readonly cluster: Pick<ClusterLink, "hasConnectedMemberElsewhere" | "handOn"> | undefined;
}

/** MQTT 5.0 §4.8.2: messages that a disconnected member of a shared subscription did not acknowledge go to another member. */
export function redistribute(parts: HandoverParts, session: Session): void {
  const ended = !parts.sessions.has(session.clientId);
  const moves = ({ group, filter }: Subscription) =>
    ended ||
    group?.pick(undefined, session)?.session.recipient !== undefined ||
    parts.cluster?.hasConnectedMemberElsewhere(filter) === true;
  handOn(parts, session, takeShared(session, moves));
}

/** Moves messages that wait for absent members of the session's shared subscriptions to this connected one. */
export function gatherShared(parts: HandoverParts, session: Session): void {
  for (const { group } of session.subscriptions.values()) {
    if (!group) continue;
    for (const clientId of group.away()) {
      const absent = parts.sessions.get(clientId);
      if (!absent) continue;
      const taken = takeShared(absent, (subscription) => subscription.group === group);
      handOn(parts, absent, taken);
    }
  }
}

/** Queued messages and unacknowledged QoS 1 messages; a QoS 2 message that was sent stays with the session. */
function takeShared({ clientId, inflight, queue, store }: Session, moves: (subscription: Subscription) => boolean): Delivery[] {
  if (inflight.size === 0 && queue.length === 0) return [];
  const isTheirs = ({ shared }: Delivery) => shared !== undefined && moves(shared);
  const sent = inflight.inOrder().filter((delivery) => delivery.state === "awaiting puback" && isTheirs(delivery));
  for (const delivery of sent) inflight.delete(delivery.packetId);
  const taken = [...sent, ...queue.take(isTheirs)];
  for (const delivery of taken) store?.removed(clientId, delivery);
  return taken;
}

function handOn({ groups, cluster }: HandoverParts, from: Session, deliveries: readonly Delivery[]): void {
  for (const { message, shared } of deliveries) {
    const group = shared?.filter ?? "";
    const next = groups.get(group)?.pick(message, from);
    if (!next?.session.recipient && cluster?.handOn(group, message, next !== undefined)) continue;
    if (next) deliverTo(next, message);
    else from.drop(message, "session ended");
  }
}
