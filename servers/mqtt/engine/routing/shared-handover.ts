import type { ClusterLink } from "../cluster-link.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { Session } from "../session/session.ts";
import { deliverTo } from "./route-message.ts";
import type { SharedGroup } from "./subscription.ts";

export interface HandoverParts {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly groups: ReadonlyMap<string, SharedGroup>;
  readonly cluster: Pick<ClusterLink, "hasConnectedMemberElsewhere" | "handOn"> | undefined;
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
}

/** Messages that change hands in one turn of the event loop. */
const messagesOfTurn = 200;

/**
 * MQTT 5.0 §4.8.2: messages that a disconnected member of a shared subscription did not acknowledge go to other members, as long as there
 * are connected ones that can take them; the rest stays. If the session has ended, all of them go.
 */
export function redistribute(parts: HandoverParts, session: Session): void {
  if (!session.groups) return;
  if (!parts.sessions.has(session.clientId)) {
    handOver(parts, session, "ended", { left: Number.POSITIVE_INFINITY });
    return;
  }
  if (session.inflight.size + session.queue.length > 0) begin(parts, session);
}

/** Thousands of clients with ten thousand messages each may leave together. */
function begin(parts: HandoverParts, session: Session): void {
  if (session.isHandingOver) return;
  if (!parts.scheduler.isTurnOver()) {
    for (const { shared } of session.deliveries()) if (shared) parts.groups.get(shared.filter)?.hold(session);
    goOn(parts, session);
    return;
  }
  session.isHandingOver = true;
  parts.scheduler.whenWritten(() => {
    session.isHandingOver = false;
    if (isAway(parts, session)) begin(parts, session);
  });
}

const isAway = (parts: HandoverParts, session: Session): boolean => !session.recipient && parts.sessions.get(session.clientId) === session;

/** Before the end of a session: moves some of its messages. False if there are more. */
export function handOverSome(parts: HandoverParts, session: Session): boolean {
  const turn = { left: messagesOfTurn };
  if (session.groups) handOver(parts, session, "ended", turn);
  return turn.left > 0;
}

function goOn(parts: HandoverParts, session: Session): void {
  if (!isAway(parts, session)) return;
  const turn = { left: messagesOfTurn };
  handOver(parts, session, "away", turn);
  if (turn.left > 0) return;
  session.isHandingOver = true;
  parts.scheduler.whenWritten(() => {
    session.isHandingOver = false;
    goOn(parts, session);
  });
}

/** Moves messages that wait for absent members of the session's shared subscriptions to connected ones, as long as this one can take them. */
export function gatherShared(parts: HandoverParts, session: Session): void {
  if (session.isGathering) return;
  const turn = { left: messagesOfTurn };
  for (const group of session.groups ?? []) {
    const member = session.subscriptions.get(group.name);
    for (const holder of group.holders) {
      if (!session.recipient || !member || session.readiness(undefined, member) < 3) break;
      const absent = parts.sessions.get(holder.clientId);
      if (absent && absent !== session && !absent.recipient) handOver(parts, absent, "away", turn);
      else group.holdsNoMore(holder);
      if (turn.left > 0) continue;
      session.isGathering = true;
      parts.scheduler.whenWritten(() => {
        session.isGathering = false;
        gatherShared(parts, session);
      });
      return;
    }
  }
}

/** Queued messages and unacknowledged QoS 1 messages; a QoS 2 message that was sent stays with the session, until it ends. */
function handOver(parts: HandoverParts, from: Session, how: "away" | "ended", turn: { left: number }): void {
  const { groups, cluster } = parts;
  const { inflight, queue } = from;
  /** Of groups whose connected members can take no more. */
  const full = new Set<SharedGroup>();

  function moves(delivery: Delivery): boolean {
    const { shared, message } = delivery;
    if (!shared || turn.left === 0) return false;
    const group = groups.get(shared.filter);
    if (group && full.has(group)) return false;
    let next = group?.pickConnected(message, from);
    const elsewhere = !next && cluster !== undefined && (how === "ended" || cluster.hasConnectedMemberElsewhere(shared.filter));
    if (!next && !elsewhere && how === "away") {
      if (group) full.add(group);
      return false;
    }
    turn.left--;
    from.store?.removed(from.clientId, delivery);
    next ??= group?.pick(message, from);
    if (!next?.session.recipient && cluster?.handOn(shared.filter, message, next !== undefined)) return true;
    if (next) deliverTo(next, message);
    else from.drop(message, "session ended");
    return true;
  }

  if (inflight.size > 0) {
    for (const delivery of inflight.inOrder()) {
      if (delivery.state === "awaiting puback" && moves(delivery)) inflight.delete(delivery.packetId);
    }
  }
  queue.take(moves, () => turn.left === 0);
  if (turn.left === 0) return;
  // What is left cannot move, or waits until a connected member can take it.
  for (const group of from.groups ?? []) if (!full.has(group)) group.holdsNoMore(from);
}
