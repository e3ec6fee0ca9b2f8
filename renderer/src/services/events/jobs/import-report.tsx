import { Button, Text } from "@mantine/core";
import type { EventJob } from "../../../../../contract/services/events.ts";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { Dialog, DialogButtons } from "../../../ui/forms/dialog.tsx";
import { formatCount, formatCountOf, pluralOf } from "../../../ui/texts/quantity.ts";
import styles from "./import-report.module.css";

interface ImportReportProps {
  readonly job: EventJob | undefined;
  readonly onClose: () => void;
}

/** Which lines an import left out, and why. */
export function ImportReport({ job, onClose }: ImportReportProps) {
  const lines = job?.refusedLines ?? [];
  const refused = job?.refused ?? 0;
  const stored = job?.done ?? 0;
  const existing = job?.existing ?? 0;
  return (
    <Dialog opened={job !== undefined} onClose={onClose} title={`${formatCountOf(refused, "line")} refused`}>
      <Text c="var(--bl-text-2)" fz="md" mb="sm">
        {`${formatCountOf(stored, "event")} ${pluralOf(stored, "was", "were")} stored${existing > 0 ? `, ${formatCount(existing)} ${pluralOf(existing, "was", "were")} there already` : ""}. `}
        {refused > lines.length ? `The first ${formatCount(lines.length)} of the refused lines:` : "Refused:"}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <section className={styles.well} tabIndex={0} aria-label="Refused lines">
        <dl className={styles.lines}>
          {lines.map(({ line, reason }) => (
            <div key={line}>
              <dt>{`Line ${formatCount(line)}`}</dt>
              <dd>{reason}</dd>
            </div>
          ))}
        </dl>
      </section>
      <DialogButtons>
        <CopyButton text={() => lines.map(({ line, reason }) => `${line}\t${reason}`).join("\n")} what="the report" />
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
