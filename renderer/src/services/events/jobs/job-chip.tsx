import { ActionIcon, Button, Progress } from "@mantine/core";
import { IconCheck, IconSparkles, IconTrash, IconUpload, IconX } from "@tabler/icons-react";
import type { EventJob } from "../../../../../contract/services/events.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { Tooltip } from "../../../ui/tooltip.tsx";
import { eventsAsk } from "./import-file.ts";
import styles from "./job-chip.module.css";
import { jobFigures, jobPercent, jobTitle } from "./job-words.ts";

const icons: Readonly<Record<EventJob["kind"], typeof IconUpload>> = {
  import: IconUpload,
  delete: IconTrash,
  generate: IconSparkles,
};

interface JobChipProps {
  readonly job: EventJob;
  /** Where there is little room. */
  readonly inBar?: boolean;
  readonly onReport: (job: EventJob) => void;
}

/** One import, deletion or generation: its progress with a cancel button, then its result. */
export function JobChip({ job, inBar, onReport }: JobChipProps) {
  const client = useControl();
  const ask = eventsAsk(client);
  const running = job.state === "running";
  const percent = jobPercent(job);
  const title = jobTitle(job);
  return (
    <div className={styles.chip} data-state={job.state} data-in-bar={inBar || undefined}>
      <JobIcon job={job} />
      <span className={styles.title}>{title}</span>
      {running && <Progress className={styles.progress} value={percent ?? 100} animated={percent === undefined} aria-label={title} />}
      <span className={styles.figures} title={job.failure && `${job.failure.message} ${job.failure.hint}`}>
        {jobFigures(job)}
      </span>
      {(job.refused ?? 0) > 0 && (
        <Button className={styles.report} size="compact-xs" variant="subtle" onClick={() => onReport(job)}>
          Report
        </Button>
      )}
      <Tooltip label={running ? "Cancel" : "Remove"}>
        <ActionIcon
          aria-label={`${running ? "Cancel" : "Remove"}: ${title}`}
          onClick={() => void attempt(running ? ask("job.cancel", { job: job.id }) : ask("job.remove", { job: job.id }))}
        >
          <IconX size={14} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

const countingTitle = "Counting what to delete";

/** Before the confirmation of a deletion, while the count is slow. */
export function CountingChip({ onCancel }: { readonly onCancel: () => void }) {
  return (
    <div className={styles.chip} data-state="running">
      <IconTrash size={14} stroke={1.5} className={styles.going} aria-hidden="true" />
      <span className={styles.title}>{countingTitle}</span>
      <Progress className={styles.progress} value={100} animated aria-label={countingTitle} />
      <Tooltip label="Cancel">
        <ActionIcon aria-label={`Cancel: ${countingTitle}`} onClick={onCancel}>
          <IconX size={14} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

function JobIcon({ job }: { readonly job: EventJob }) {
  const Icon = icons[job.kind];
  switch (job.state) {
    case "running":
      return <Icon size={14} stroke={1.5} className={styles.going} aria-hidden="true" />;
    case "done":
      return <IconCheck size={14} stroke={1.75} className={styles.done} aria-hidden="true" />;
    case "cancelled":
      return <StatusShape shape="stopped" />;
    case "failed":
      return <StatusShape shape="failed" />;
    default:
      return job.state satisfies never;
  }
}
