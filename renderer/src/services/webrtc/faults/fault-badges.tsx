import { FaultChips, FaultList, type ShownFault } from "../../faults/active-faults.tsx";
import { type FaultTarget, useFaults } from "./fault-target.ts";
import { faultText, faultWords } from "./fault-texts.ts";

interface FaultBadgesProps {
  readonly target: FaultTarget;
}

const useShownFaults = (target: FaultTarget): readonly ShownFault[] =>
  useFaults(target).map(({ fault, until }) => ({
    kind: fault.kind,
    text: faultText(fault),
    words: faultWords(target.kind, fault.kind),
    until,
  }));

/** A chip for each active fault of the target. */
export const FaultBadges = ({ target }: FaultBadgesProps) => <FaultChips faults={useShownFaults(target)} />;

/** What each does, and its remaining time. */
export const FaultPairs = ({ target }: FaultBadgesProps) => <FaultList faults={useShownFaults(target)} />;
