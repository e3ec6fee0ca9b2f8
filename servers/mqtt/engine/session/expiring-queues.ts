import type { ClusterLink } from "../cluster-link.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { steadyNow } from "../steady-clock.ts";
import { type Ranked, RankedHeap } from "./ranked-heap.ts";
import type { Session } from "./session.ts";

export interface ExpiringParts {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  readonly cluster: Pick<ClusterLink, "isBehind" | "whenCaughtUp"> | undefined;
}

/** Of a session in whose queue messages expire. */
interface Look extends Ranked {
  readonly session: Session;
  /** Not sooner. */
  mayBeginAt: number;
}

/** Deliveries that are looked at between two looks at the clock. */
const looksOfStep = 64;
/** Between two looks at a queue of which each message expires at another time: a delivery is looked at no more than 200 times for each that is there. */
const shortestPauseMs = 1_000;
const pauseOfDeliveryMs = 5;

/**
 * Drops messages from the queues of sessions when their time is over (MQTT5-3.3.2-5), whether their clients are there or not. A queue is looked at when
 * the first of its messages expires; thousands may do so together: in the turns of all clients.
 */
export class ExpiringQueues {
  private readonly looks = new Map<Session, Look>();
  private readonly due = new RankedHeap<Look>();
  /** What is left of the look that has begun. */
  private left: Iterator<unknown> | undefined = undefined;
  private isWaiting = false;
  private stopped = false;
  private looked = 0;
  private readonly parts: ExpiringParts;

  constructor(parts: ExpiringParts) {
    this.parts = parts;
  }

  /** A message of its queue expires sooner than those before. */
  note(session: Session): void {
    let look = this.looks.get(session);
    if (!look) {
      look = { session, mayBeginAt: 0, rank: 0, order: 0, place: -1 };
      this.looks.set(session, look);
    }
    this.due.put(look, Math.max(session.queue.nextExpiry, look.mayBeginAt));
  }

  /** The session is over, or at another broker. */
  forget(session: Session): void {
    const look = this.looks.get(session);
    if (!look) return;
    this.looks.delete(session);
    this.due.remove(look);
  }

  /** Something may have expired. */
  begin(): void {
    if (!this.isWaiting) this.goOn();
  }

  stop(): void {
    this.stopped = true;
  }

  private readonly goOn = (): void => {
    this.isWaiting = false;
    const { scheduler, cluster } = this.parts;
    while (!this.stopped) {
      this.left ??= this.nextDue();
      if (!this.left) return;
      if (this.left.next().done) this.left = undefined;
      if (++this.looked % looksOfStep !== 0 || !(cluster?.isBehind || scheduler.isTurnOver())) continue;
      this.isWaiting = true;
      const later = () => scheduler.whenWritten(this.goOn, "much");
      if (cluster?.isBehind) cluster.whenCaughtUp(later);
      else later();
      return;
    }
  };

  private nextDue(): Iterator<unknown> | undefined {
    const now = steadyNow();
    const { first } = this.due;
    if (!first || first.rank > now) return undefined;
    this.due.remove(first);
    return this.look(first, now);
  }

  private *look(look: Look, now: number): Generator<undefined, void> {
    const { session } = look;
    const { queue } = session;
    let soonest = Number.POSITIVE_INFINITY;
    // Of those that come meanwhile the queue tells by itself.
    queue.nextExpiry = soonest;
    // It is being restored.
    if (session.hasEnded) soonest = now;
    for (let place = queue.first; place < queue.end && !session.hasEnded; place++) {
      const delivery = queue.at(place);
      const expiresAt = delivery?.message.expiresAt ?? 0;
      if (expiresAt > now) soonest = Math.min(soonest, expiresAt);
      else if (delivery && expiresAt > 0) {
        queue.remove(place);
        session.store?.removed(session, delivery);
        session.drop(delivery.message, "expired");
      }
      yield;
    }
    if (this.looks.get(session) !== look) return;
    queue.compact();
    look.mayBeginAt = now + Math.max(shortestPauseMs, pauseOfDeliveryMs * queue.length);
    queue.nextExpiry = Math.min(queue.nextExpiry, soonest);
    if (Number.isFinite(queue.nextExpiry)) this.note(session);
    else this.forget(session);
  }
}
