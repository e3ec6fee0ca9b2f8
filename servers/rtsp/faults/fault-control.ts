import type { SessionTable } from "../sessions/session-table.ts";
import type { FaultStart, Faults } from "./faults.ts";

/** What a session that publishes can have: it is sent no packets. */
const ofPublishers: ReadonlySet<FaultStart["fault"]["kind"]> = new Set(["close", "status"]);
const closed = "closed by a fault";

type Session = ReturnType<SessionTable["list"]>[number];

/** Starts faults for the page and the management. */
export interface FaultControl {
  /** The path need not be there yet. */
  startOnPath(path: string, start: FaultStart): void;
  /** False where the session has ended, or where it publishes and the fault is one of what is sent to it. */
  startOnSession(session: Session, start: FaultStart): boolean;
}

export const createFaultControl = (faults: Faults, sessions: Pick<SessionTable, "list">): FaultControl => ({
  startOnPath(path, start) {
    faults.start(path, start);
    if (start.fault.kind !== "close") return;
    for (const session of sessions.list()) if (session.path === path) session.end(closed, "fault");
  },
  startOnSession(session, start) {
    if (session.isEnded || (session.role === "publish" && !ofPublishers.has(start.fault.kind))) return false;
    if (start.fault.kind === "close") session.end(closed, "fault");
    else faults.start(session, start);
    return true;
  },
});
