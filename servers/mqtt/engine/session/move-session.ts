import type { Qos } from "../../codec/packet.ts";
import { type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import { type SubscriptionParts, subscribe } from "../connection/subscribe-flow.ts";
import { Delivery } from "../delivery/delivery.ts";
import type { Message } from "../routing/message.ts";
import type { HandoverParts, SharedHandover } from "../routing/shared-handover.ts";
import { fromComputerTime } from "../steady-clock.ts";
import type { AwaySessions } from "./away-sessions.ts";
import type { Departures } from "./departures.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { Session, type SessionContext } from "./session.ts";
import type { StoredDelivery, StoredSession } from "./session-store.ts";

export interface RestoreParts extends SubscriptionParts, SessionContext {
  readonly sessions: Map<string, Session>;
  /** Sessions without a connection. */
  readonly away: Pick<AwaySessions, "add" | "delete">;
}

/** Dependencies for moving a session between brokers. */
export interface MoveParts extends RestoreParts {
  readonly cluster: (SubscriptionParts["cluster"] & HandoverParts["cluster"]) | undefined;
  readonly departures: Pick<Departures, "begin" | "finish">;
  readonly handover: Pick<SharedHandover, "offer">;
  readonly endedSessions: Pick<EndedSessions, "remove">;
  /** Sessions by client identifier. */
  readonly clients: ReadonlyMap<string, { disconnect(reason: ReasonCode, text: string): void }>;
  endSession(session: Session): void;
}

/**
 * Restores a stored session, without a connection: a step for each subscription and message. Messages for which there is no room are
 * dropped.
 */
export function* restoreInSteps(parts: RestoreParts, kept: StoredSession): Generator<undefined, Session> {
  const session = yield* restoreClosed(parts, kept);
  open(parts, session, kept);
  return session;
}

/** A session that is not open yet: what is published is not delivered to it. */
export function* restoreClosed(parts: RestoreParts, kept: StoredSession): Generator<undefined, Session> {
  const session = new Session(kept.clientId, kept.v5, parts);
  // Set last, so that the restored data is not written to the store again.
  session.expirySeconds = 0;
  session.disconnectedAt = fromComputerTime(kept.disconnectedAt || Date.now());
  session.will = kept.will;
  session.address = kept.address;
  // MQTT 5.0 §3.1.2.5: a server that was down publishes the will after its restart.
  if (kept.will) session.willDueAt = session.disconnectedAt + Math.min(kept.will.delaySeconds, kept.expirySeconds) * 1_000;
  session.storedId = kept.storedId;
  session.hasEnded = true;
  for (const { filter, options, storedId } of kept.subscriptions) {
    subscribe(parts, session, filter, options);
    const subscription = session.subscriptions.get(filter);
    if (subscription) subscription.storedId = storedId;
    yield;
  }
  for (const packetId of kept.received) {
    session.receive(packetId);
    yield;
  }
  for (const delivery of kept.deliveries) {
    restoreDelivery(parts, session, delivery);
    yield;
  }
  return session;
}

/** From now on it gets what is published. */
function open(parts: RestoreParts, session: Session, kept: StoredSession): void {
  session.hasEnded = false;
  parts.sessions.set(kept.clientId, session);
  // What was said of it before is that it is not here.
  for (const { name } of session.groups ?? []) parts.cluster?.memberChanged(name, kept.clientId);
  session.expirySeconds = kept.expirySeconds;
  parts.away.add(session);
  if (kept.disconnectedAt === 0) parts.store?.saveSession(session);
}

function restoreDelivery({ store }: RestoreParts, session: Session, stored: StoredDelivery): void {
  const { subscriptions, queue, inflight } = session;
  const identifiers = stored.identifiers.length > 0 ? stored.identifiers : undefined;
  const shared = stored.sharedFilter === "" ? undefined : subscriptions.get(stored.sharedFilter);
  const delivery = new Delivery(stored.message, stored.qos, stored.retain, identifiers, shared);
  delivery.storedId = stored.id;
  delivery.asRetained = stored.asRetained === true;
  if (session.isFull) {
    store?.removed(session, delivery);
    session.drop(stored.message, "queue full");
    return;
  }
  shared?.group?.hold(shared.session);
  if (stored.packetId === 0) {
    queue.push(delivery);
    return;
  }
  delivery.packetId = stored.packetId;
  delivery.state = stored.released ? "awaiting pubcomp" : stored.qos === 1 ? "awaiting puback" : "awaiting pubrec";
  inflight.add(delivery);
  inflight.lastPacketId = Math.max(inflight.lastPacketId, stored.packetId);
}

/** What would have been delivered to a session that was at another broker. */
export interface MissedMessage {
  readonly message: Message;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly identifiers: readonly number[] | undefined;
}

/** To a session of another broker, which was restored. */
export function deliverMissed(session: Session, { message, qos, retain, identifiers }: MissedMessage): void {
  session.deliver(message, qos, retain, identifiers, undefined);
}

/** Opens a session of another broker that was restored. */
export function adoptSession(parts: MoveParts, session: Session, kept: StoredSession, missed: readonly MissedMessage[]): void {
  open(parts, session, kept);
  for (const one of missed) deliverMissed(session, one);
  parts.handover.offer(session);
  parts.departures.begin();
}

/** A session that was restored is not opened: another broker has it. */
export function abandonSession(parts: Pick<MoveParts, "endedSessions" | "store">, session: Session): void {
  giveUp(parts, session);
  session.release();
  parts.endedSessions.remove(session);
}

/** Releases a session to the broker where the client is now: its connection here ends. True if the store has a session to hand over. */
export function surrenderSession(parts: MoveParts, clientId: string, cleanStart: boolean): boolean {
  parts.clients.get(clientId)?.disconnect(reasonCode.sessionTakenOver, "Another connection took the session over.");
  const session = parts.sessions.get(clientId);
  if (!session) return false;
  parts.departures.finish(session);
  if (!parts.sessions.has(clientId)) return false;
  if (cleanStart) parts.endSession(session);
  else {
    giveUp(parts, session);
    forgetSession(parts, session);
  }
  return !cleanStart;
}

/** The other brokers declared this one dead and took all sessions over: its clients have to connect again. */
export function surrenderAll(parts: MoveParts): void {
  for (const session of [...parts.sessions.values()]) {
    session.will = undefined;
    if (session.expirySeconds > 0) giveUp(parts, session);
    // This broker may no longer write the session.
    session.expirySeconds = 0;
    parts.clients
      .get(session.clientId)
      ?.disconnect(reasonCode.serverShuttingDown, "The other brokers declared this one dead; connect again.");
    forgetSession(parts, session);
  }
}

/** Removes the session from this broker's memory only. */
function forgetSession(parts: MoveParts, session: Session): void {
  parts.away.delete(session);
  parts.sessions.delete(session.clientId);
  session.release();
  parts.endedSessions.remove(session);
}

/** The other broker delivers what it has of messages. */
function giveUp({ store }: Pick<MoveParts, "store">, session: Session): void {
  store?.handedOver?.(session.deliveries());
  session.hasMoved = true;
}
