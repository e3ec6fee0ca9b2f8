import { type SubscriptionParts, unsubscribe } from "../connection/subscribe-flow.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { Session } from "./session.ts";

export interface EndedParts extends SubscriptionParts {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
}

/** Messages and subscriptions that are removed between two looks at the clock. */
const removedBetweenLooks = 64;

/** Drops what waits in sessions that have ended, or are at another broker that has it, and removes their subscriptions, in the turns of all clients: each may have thousands. */
export class EndedSessions {
  private readonly waiting: { readonly session: Session; readonly steps: Iterator<unknown> }[] = [];
  private isWaiting = false;
  private removed = 0;
  private readonly parts: EndedParts;

  constructor(parts: EndedParts) {
    this.parts = parts;
  }

  /** All that was to be removed is removed. */
  get isIdle(): boolean {
    return this.waiting.length === 0;
  }

  /** Of most sessions all is removed when it returns. */
  remove(session: Session): void {
    const { inflight, queue, subscriptions } = session;
    if (inflight.size + queue.length + subscriptions.size > 0) this.waiting.push({ session, steps: this.removeAll(session) });
    if (!this.isWaiting) this.removeSome();
  }

  private readonly removeSome = (): void => {
    this.isWaiting = false;
    const { waiting } = this;
    let done = 0;
    while (done < waiting.length && this.finish(waiting[done]?.steps)) done++;
    waiting.splice(0, done);
    if (waiting.length === 0) return;
    this.isWaiting = true;
    this.parts.scheduler.whenWritten(this.removeSome, "much");
  };

  /** False if the turn is over before. */
  private finish(steps: Iterator<unknown> | undefined): boolean {
    while (steps && !steps.next().done) {
      if (++this.removed % removedBetweenLooks === 0 && this.parts.scheduler.isTurnOver()) return false;
    }
    return true;
  }

  private *removeAll(session: Session): Generator<undefined, void> {
    yield* dropAll(session);
    for (const filter of session.subscriptions.keys()) {
      unsubscribe(this.parts, session, filter);
      yield;
    }
  }
}

/** A step for each message. One of QoS 2 is the client's once it has sent a PUBREC. */
function* dropAll(session: Session): Generator<undefined, void> {
  const { inflight, queue } = session;
  for (const delivery of inflight.size > 0 ? inflight.inOrder() : []) {
    inflight.delete(delivery.packetId);
    if (delivery.state !== "awaiting pubcomp") leave(session, delivery);
    yield;
  }
  for (let delivery = queue.shift(); delivery; delivery = queue.shift()) {
    leave(session, delivery);
    yield;
  }
}

function leave(session: Session, { message, asRetained }: Delivery): void {
  if (!session.hasMoved) session.drop(message, "session ended");
  else if (!asRetained) message.trace?.moved(session.clientId);
}
