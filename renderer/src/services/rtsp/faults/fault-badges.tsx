import type { RtspActiveFault, RtspFaultKind } from "../../../../../contract/services/rtsp-faults.ts";
import { FaultChips, FaultList, type ShownFault } from "../../faults/active-faults.tsx";
import { type FaultTarget, hasFaultOfPath, useFaults } from "./fault-target.ts";
import { faultText, faultWords } from "./fault-texts.ts";

interface FaultBadgesProps {
  readonly target: FaultTarget;
}

/** Of a session also those of its path that act on it, but for those of a kind that it has itself. */
function useAllFaults(target: FaultTarget): readonly RtspActiveFault[] {
  const ofPath = useFaults({ kind: "path", path: target.path });
  const own = useFaults(target);
  if (target.kind === "path") return own;
  const isOwn = (kind: RtspFaultKind) => own.some(({ fault }) => fault.kind === kind);
  return [...own, ...ofPath.filter(({ fault }) => hasFaultOfPath(target, fault) && !isOwn(fault.kind))];
}

const useShownFaults = (target: FaultTarget): readonly ShownFault[] =>
  useAllFaults(target).map(({ fault, until }) => ({ kind: fault.kind, text: faultText(fault), words: faultWords[fault.kind], until }));

/** A chip for each active fault. */
export const FaultBadges = ({ target }: FaultBadgesProps) => <FaultChips faults={useShownFaults(target)} />;

/** What each does, and its remaining time. */
export const FaultPairs = ({ target }: FaultBadgesProps) => <FaultList faults={useShownFaults(target)} />;
