import { type SubscriptionParts, unsubscribe } from "../connection/subscribe-flow.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { Session } from "./session.ts";

export interface EndedParts extends SubscriptionParts {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
}

/** Subscriptions that are removed between two looks at the clock. */
const removedBetweenLooks = 64;

/** Removes the subscriptions of sessions that have ended, in the turns of all clients: each may have thousands. */
export class EndedSubscriptions {
  private readonly waiting: Session[] = [];
  private isWaiting = false;
  private removed = 0;
  private readonly parts: EndedParts;

  constructor(parts: EndedParts) {
    this.parts = parts;
  }

  /** Of most sessions all are removed when it returns. */
  remove(session: Session): void {
    if (session.subscriptions.size > 0) this.waiting.push(session);
    if (!this.isWaiting) this.removeSome();
  }

  private readonly removeSome = (): void => {
    this.isWaiting = false;
    const { waiting } = this;
    let done = 0;
    for (let session = waiting[0]; session && this.removeOf(session); session = waiting[++done]);
    waiting.splice(0, done);
    if (waiting.length === 0) return;
    this.isWaiting = true;
    this.parts.scheduler.whenWritten(this.removeSome, "much");
  };

  /** False if the turn is over before all are removed. */
  private removeOf(session: Session): boolean {
    for (const filter of session.subscriptions.keys()) {
      unsubscribe(this.parts, session, filter);
      if (++this.removed % removedBetweenLooks === 0 && this.parts.scheduler.isTurnOver()) return session.subscriptions.size === 0;
    }
    return true;
  }
}
