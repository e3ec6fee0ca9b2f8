import type { RtspActiveFault, RtspFaultKind } from "../../../../../contract/services/rtsp-faults.ts";
import { Chip, Chips, Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { formatDurationExact } from "../../../ui/texts/time.ts";
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

/** A chip for each active fault. */
export function FaultBadges({ target }: FaultBadgesProps) {
  const shown = useAllFaults(target);
  if (shown.length === 0) return null;
  return (
    <Chips>
      {shown.map(({ fault }) => (
        <Chip key={fault.kind} tone="warn" title={faultWords[fault.kind].text}>
          {faultText(fault)}
        </Chip>
      ))}
    </Chips>
  );
}

/** Name and remaining time of each. */
export function FaultPairs({ target }: FaultBadgesProps) {
  const now = useNow();
  const faults = useAllFaults(target);
  if (faults.length === 0) return <Note>None.</Note>;
  return (
    <Pairs>
      {faults.map(({ fault, until }) => (
        <Pair key={fault.kind} name={faultText(fault)} title={faultWords[fault.kind].text}>
          {`for another ${formatDurationExact(Math.max(0, until - now))}`}
        </Pair>
      ))}
    </Pairs>
  );
}
