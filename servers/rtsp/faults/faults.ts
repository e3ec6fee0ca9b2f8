import type { RtspFault } from "../../../contract/services/rtsp-faults.ts";
import { type ActiveFault as Active, FaultRegistry, type FaultStart as Start } from "../../core/faults/fault-registry.ts";

/** A session that can have faults of its own beside those of its path. */
export interface FaultySession {
  readonly path: string;
}

/** A path by its name, or a session. */
export type FaultTarget = string | FaultySession;

export type ActiveFault = Active<RtspFault>;

/** All end by themselves. */
export type FaultStart = Start<RtspFault> & { readonly forMs: number };

/** What goes wrong on demand, by path and by session, each for a time. */
export class Faults extends FaultRegistry<FaultTarget, RtspFault> {
  ofPath(path: string): readonly ActiveFault[] {
    return this.isQuiet ? [] : this.listOf(path);
  }

  /** Its own and those of its path; of the same kind its own counts. */
  of(session: FaultySession): readonly ActiveFault[] {
    if (this.isQuiet) return [];
    const own = this.listOf(session);
    return [...own, ...this.listOf(session.path).filter(({ fault }) => own.every((other) => other.fault.kind !== fault.kind))];
  }
}
