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

/** Deliveries, or holders of groups, that are looked at between two looks at the clock. */
const looksOfStep = 64;
/** Groups of which each message to their member may ask whether they hold something. */
const fewGroups = 8;

/**
 * MQTT 5.0 §4.8.2: messages that a disconnected member of a shared subscription did not acknowledge go to other members, as long as there
 * are connected ones that can take them; the rest stays. If the session has ended, all of them go. Thousands of clients with ten thousand
 * messages each may leave together, and a member that can take none may ask for them with each packet: all of it is done in turns.
 */
export class SharedHandover {
  /** Absent sessions whose messages are to be looked at, with what is left of the look that has begun. They take turns. */
  private readonly holders = new Map<Session, Iterator<unknown> | undefined>();
  /** Members that can take messages, with what is left of the search for their groups' holders. */
  private readonly takers = new Map<Session, Iterator<unknown> | undefined>();
  /** To be looked at once more: somebody came who can take messages. */
  private readonly again = new Set<Session>();
  private state: "idle" | "working" | "waiting for its turn" = "idle";
  private readonly parts: HandoverParts;

  constructor(parts: HandoverParts) {
    this.parts = parts;
  }

  /** The session's client has left, or other members can take what it has. */
  offer(session: Session): void {
    if (!session.groups || !hasMessages(session)) return;
    if (this.holders.get(session)) this.again.add(session);
    else this.holders.set(session, undefined);
    this.begin();
  }

  /** The session's client can take messages that wait for absent members of its groups. */
  gather(session: Session): void {
    const { groups } = session;
    if (!groups || (groups.size <= fewGroups && !hasHolders(groups))) return;
    if (!this.takers.has(session)) this.takers.set(session, undefined);
    this.begin();
  }

  /** Before the end of a session: moves some of its messages. False if there are more. */
  endSome(session: Session): boolean {
    if (!session.groups) return true;
    for (const _ of this.look(session, "ended")) if (this.parts.scheduler.isTurnOver()) return false;
    return true;
  }

  /** The same in steps, of a session without a connection. */
  *ending(session: Session): Generator<undefined, void> {
    if (session.groups && !session.recipient) yield* this.look(session, "ended");
  }

  /** The session has ended: moves all of its messages. */
  end(session: Session): void {
    this.holders.delete(session);
    this.takers.delete(session);
    this.again.delete(session);
    if (session.groups) for (const _ of this.look(session, "ended"));
  }

  private begin(): void {
    if (this.state !== "idle") return;
    if (this.parts.scheduler.isTurnOver()) this.wait();
    else this.work();
  }

  private wait(): void {
    this.state = "waiting for its turn";
    this.parts.scheduler.whenWritten(this.work, "much");
  }

  private readonly work = (): void => {
    this.state = "working";
    let step = 0;
    do {
      if (this.takers.size + this.holders.size === 0) {
        this.state = "idle";
        return;
      }
      if (++step % 2 === 0) this.step(this.takers, (session) => this.findHolders(session));
      else this.step(this.holders, (session) => this.look(session, "away"));
    } while (!this.parts.scheduler.isTurnOver());
    this.wait();
  };

  /** Of the first one, which then comes after the others. */
  private step(waiting: Map<Session, Iterator<unknown> | undefined>, begin: (session: Session) => Iterator<unknown>): void {
    const [next] = waiting;
    if (!next) return;
    const [session] = next;
    const look = next[1] ?? begin(session);
    waiting.set(session, look);
    const { done } = look.next();
    waiting.delete(session);
    if (!done) waiting.set(session, look);
    else if (waiting === this.holders && this.again.delete(session)) waiting.set(session, undefined);
  }

  private isAway(session: Session): boolean {
    return !session.recipient && this.parts.sessions.get(session.clientId) === session;
  }

  private *findHolders(session: Session): Generator<undefined, void> {
    let looks = 0;
    for (const group of session.groups ?? []) {
      if (++looks % looksOfStep === 0) yield;
      const member = session.subscriptions.get(group.name);
      if (!member) continue;
      for (const holder of group.holders) {
        if (++looks % looksOfStep === 0) yield;
        if (!session.recipient || session.readiness(undefined, member) < 3) return;
        const absent = this.parts.sessions.get(holder.clientId);
        // What it had may have expired.
        if (absent && absent !== session && absent === holder && this.isAway(absent) && hasMessages(absent)) this.offer(absent);
        else group.holdsNoMore(holder);
      }
    }
  }

  /** Queued messages and unacknowledged QoS 1 messages; a QoS 2 message that was sent stays with the session, until it ends. */
  private *look(from: Session, how: "away" | "ended"): Generator<undefined, void> {
    const { inflight, queue } = from;
    /** Those whose connected members can take no more: what is left for them waits here. */
    const full = new Set<SharedGroup>();
    // Another broker delivers what a session had that has moved.
    const isOver = () => from.hasMoved || (how === "away" && !this.isAway(from));
    let looks = 0;
    for (const delivery of inflight.size > 0 ? inflight.inOrder() : []) {
      if (++looks % looksOfStep === 0) yield;
      if (isOver()) break;
      if (delivery.state === "awaiting puback" && this.moves(from, delivery, how, full)) inflight.delete(delivery.packetId);
    }
    for (let place = queue.first; place < queue.end; place++) {
      if (++looks % looksOfStep === 0) yield;
      if (isOver()) break;
      const delivery = queue.at(place);
      if (delivery && this.moves(from, delivery, how, full)) queue.remove(place);
    }
    queue.compact();
    if (isOver()) return;
    for (const group of from.groups ?? []) if (!full.has(group)) group.holdsNoMore(from);
  }

  private moves(from: Session, delivery: Delivery, how: "away" | "ended", full: Set<SharedGroup>): boolean {
    const { groups, cluster } = this.parts;
    const { shared, message } = delivery;
    if (!shared) return false;
    const group = groups.get(shared.filter);
    if (group && full.has(group)) return false;
    let next = group?.pickConnected(message, from);
    const elsewhere = !next && cluster !== undefined && (how === "ended" || cluster.hasConnectedMemberElsewhere(shared.filter));
    if (!next && !elsewhere && how === "away") {
      group?.hold(from);
      if (group) full.add(group);
      return false;
    }
    from.store?.removed(from, delivery);
    next ??= group?.pick(message, from);
    if (!next?.session.recipient && cluster?.handOn(shared.filter, message, next !== undefined)) {
      message.trace?.moved(from.clientId);
      return true;
    }
    if (next) deliverTo(next, message);
    else from.drop(message, "session ended");
    return true;
  }
}

const hasMessages = ({ inflight, queue }: Session): boolean => inflight.size + queue.length > 0;

function hasHolders(groups: Iterable<SharedGroup>): boolean {
  for (const { isHeld } of groups) if (isHeld) return true;
  return false;
}
