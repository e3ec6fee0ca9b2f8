import { multicastSessionFaults, publisherFaults } from "../../../contract/services/rtsp-faults.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { FaultStart, Faults } from "./faults.ts";

const closed = "closed by a fault";

type Session = ReturnType<SessionTable["list"]>[number];

/** Starts faults for the page and the management. */
export interface FaultControl {
  /** The path need not be there yet. */
  startOnPath(path: string, start: FaultStart): void;
  /** False where the session has ended, or cannot have the fault. */
  startOnSession(session: Session, start: FaultStart): boolean;
}

export interface FaultControlParts {
  readonly faults: Faults;
  readonly sessions: Pick<SessionTable, "list">;
  /** Ends what readers over HTTP are sent of a path. */
  readonly endReaders: (path: string, reason: string) => void;
  readonly turns: WorkTurns;
}

function canHave(session: Session, { kind }: FaultStart["fault"]): boolean {
  if (session.role === "publish") return publisherFaults.has(kind);
  return !session.isMulticast || multicastSessionFaults.has(kind);
}

export const createFaultControl = ({ faults, sessions, endReaders, turns }: FaultControlParts): FaultControl => ({
  startOnPath(path, start) {
    faults.start(path, start);
    if (start.fault.kind !== "close") return;
    // There may be thousands.
    const ofPath = sessions.list().filter((session) => session.path === path);
    void turns.each(ofPath, (session) => session.end(closed, "fault"));
    endReaders(path, closed);
  },
  startOnSession(session, start) {
    if (session.isEnded || !canHave(session, start.fault)) return false;
    if (start.fault.kind === "close") session.end(closed, "fault");
    else faults.start(session, start);
    return true;
  },
});
