import type { ClusterLink } from "../cluster-link.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { type EngineLog, faultText } from "../engine-observer.ts";
import type { Broadcasts } from "../routing/broadcasts.ts";
import type { SharedHandover } from "../routing/shared-handover.ts";
import { steadyNow } from "../steady-clock.ts";
import { type AwaySessions, isOver, isWillDue } from "./away-sessions.ts";
import { publishWill, type WillParts } from "./pending-will.ts";
import type { Session } from "./session.ts";

export interface DepartureParts extends WillParts {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "isBehind" | "whenWritten">;
  readonly away: Pick<AwaySessions, "refresh" | "nextDue">;
  readonly log: Pick<EngineLog, "error">;
  readonly cluster: Pick<ClusterLink, "isBehind" | "whenCaughtUp"> | undefined;
  readonly handover: Pick<SharedHandover, "endSome">;
  readonly broadcasts: Pick<Broadcasts, "isIdle" | "whenIdle" | "finish">;
  endSession(session: Session): void;
}

/** Deliveries of wills in one turn of the event loop, in bytes: what clients that read can take at once. */
const bytesOfTurn = 256 << 10;

/**
 * Publishes wills that are due, and ends sessions. Thousands may be due at once, when clients are cut off together: they are handled
 * over several turns of the event loop, in the order in which they came due.
 */
export class Departures {
  private state: "idle" | "working" | "waiting for its turn" | "stopped" = "idle";
  private readonly parts: DepartureParts;

  constructor(parts: DepartureParts) {
    this.parts = parts;
  }

  /** Something may have come due. It is done at once if there is time. */
  begin(): void {
    if (this.state !== "idle") return;
    if (this.mayGoOn(0)) this.work();
    else this.wait();
  }

  /** The client of this session, which has no connection, is back, or another broker takes it over: what is due is done first. */
  finish(session: Session): void {
    const now = steadyNow();
    if (isOver(session, now)) this.attempt(session, () => this.parts.endSession(session));
    else if (isWillDue(session, now)) this.settle(session);
  }

  /** Everything that was due is done. */
  get isIdle(): boolean {
    return this.state === "idle" && this.parts.broadcasts.isIdle;
  }

  /** Nothing more is begun. */
  stop(): void {
    this.state = "stopped";
    this.parts.broadcasts.finish();
  }

  private mayGoOn(bytes: number): boolean {
    const { scheduler, cluster, broadcasts } = this.parts;
    return !cluster?.isBehind && broadcasts.isIdle && bytes <= bytesOfTurn && !scheduler.isBehind && !scheduler.isTurnOver();
  }

  private wait(): void {
    this.state = "waiting for its turn";
    const { scheduler, cluster, broadcasts } = this.parts;
    const later = () => scheduler.whenWritten(this.work, "much");
    if (cluster?.isBehind) cluster.whenCaughtUp(later);
    else broadcasts.whenIdle(later);
  }

  private readonly work = (): void => {
    if (this.state === "stopped") return;
    this.state = "working";
    let bytes = 0;
    for (let session = this.parts.away.nextDue(steadyNow()); session; session = this.parts.away.nextDue(steadyNow())) {
      bytes += this.settle(session);
      if (this.mayGoOn(bytes)) continue;
      this.wait();
      return;
    }
    this.state = "idle";
  };

  /** Returns the bytes of the deliveries. */
  private settle(session: Session): number {
    const { parts } = this;
    const now = steadyNow();
    let bytes = 0;
    this.attempt(session, () => {
      if (isWillDue(session, now)) bytes = publishWill(parts, session);
    });
    this.attempt(session, () => {
      if (isOver(session, now) && parts.handover.endSome(session)) parts.endSession(session);
      else parts.away.refresh(session);
    });
    return bytes;
  }

  private attempt({ clientId }: Session, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.parts.log.error(`An error while the session of ${clientId} was ended: ${faultText(error)}`);
    }
  }
}
