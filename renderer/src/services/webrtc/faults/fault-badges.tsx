import { Chip, Chips, Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { formatDurationExact } from "../../../ui/texts/time.ts";
import { type FaultTarget, useFaults } from "./fault-target.ts";
import { faultText, faultWords } from "./fault-texts.ts";

interface FaultBadgesProps {
  readonly target: FaultTarget;
}

/** A chip for each active fault of the target. */
export function FaultBadges({ target }: FaultBadgesProps) {
  const shown = useFaults(target);
  if (shown.length === 0) return null;
  return (
    <Chips>
      {shown.map(({ fault }) => (
        <Chip key={fault.kind} tone="warn" title={faultWords(target.kind, fault.kind).text}>
          {faultText(fault)}
        </Chip>
      ))}
    </Chips>
  );
}

/** Name and remaining time of each. */
export function FaultPairs({ target }: FaultBadgesProps) {
  const now = useNow();
  const faults = useFaults(target);
  if (faults.length === 0) return <Note>None.</Note>;
  return (
    <Pairs>
      {faults.map(({ fault, until }) => {
        const { title, text } = faultWords(target.kind, fault.kind);
        const left = until === undefined ? "until it is released" : `for another ${formatDurationExact(Math.max(0, until - now))}`;
        return (
          <Pair key={fault.kind} name={title} title={text}>
            {`${faultText(fault)}, ${left}`}
          </Pair>
        );
      })}
    </Pairs>
  );
}
