import { Chip, Chips, Note, Pair, Pairs } from "../../ui/panel.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { formatDurationExact } from "../../ui/texts/time.ts";
import type { FaultWords } from "./fault-texts.ts";

/** An active fault, as it is shown. */
export interface ShownFault {
  readonly kind: string;
  /** "drops 20 % of signals" */
  readonly text: string;
  readonly words: FaultWords;
  /** Milliseconds since the epoch; without, it is active until it is released. */
  readonly until?: number | undefined;
}

interface ShownFaultsProps {
  readonly faults: readonly ShownFault[];
}

/** A chip for each. */
export function FaultChips({ faults }: ShownFaultsProps) {
  if (faults.length === 0) return null;
  return (
    <Chips>
      {faults.map(({ kind, text, words }) => (
        <Chip key={kind} tone="warn" title={words.text}>
          {text}
        </Chip>
      ))}
    </Chips>
  );
}

/** What each does, and its remaining time. */
export function FaultList({ faults }: ShownFaultsProps) {
  const now = useNow();
  if (faults.length === 0) return <Note>None.</Note>;
  return (
    <Pairs>
      {faults.map(({ kind, text, words, until }) => (
        <Pair key={kind} name={text} title={words.text}>
          {until === undefined ? "until it is released" : `for another ${formatDurationExact(Math.max(0, until - now))}`}
        </Pair>
      ))}
    </Pairs>
  );
}
