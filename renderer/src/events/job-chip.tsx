import { ActionIcon, Button, Progress, Tooltip } from "@mantine/core";
import { IconCheck, IconDownload, IconSparkles, IconTrash, IconUpload, IconX } from "@tabler/icons-react";
import { useState } from "react";
import type { EventJob } from "../../../contract/events.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { attempt } from "../components/notify.tsx";
import { saveFile } from "../components/save-file.ts";
import { StatusShape } from "../components/status-shape.tsx";
import { useControl } from "../control/client-context.tsx";
import { eventsAsk } from "./import-file.ts";
import styles from "./job-chip.module.css";
import { jobFigures, jobPercent, jobTitle } from "./job-words.ts";
import { fileNameOf, readExport } from "./save-export.ts";

const icons: Readonly<Record<EventJob["kind"], typeof IconDownload>> = {
  export: IconDownload,
  import: IconUpload,
  delete: IconTrash,
  generate: IconSparkles,
};

/** Text is all that an export holds: an unknown type keeps the browser from opening it. */
const mediaTypes = { csv: "text/csv", jsonl: "application/jsonl" } as const;

interface JobChipProps {
  readonly job: EventJob;
  readonly onReport: (job: EventJob) => void;
}

/** One export, import, deletion or generation: its progress with a way to cancel it, then what came of it. */
export function JobChip({ job, onReport }: JobChipProps) {
  const client = useControl();
  const ask = eventsAsk(client);
  const [saving, setSaving] = useState<number>();
  const running = job.state === "running";
  const percent = saving ?? jobPercent(job);
  const title = jobTitle(job);

  const save = async (file: string) => {
    setSaving(0);
    try {
      const parts = await readExport(ask, job, (share) => setSaving(share * 100));
      saveFile(fileNameOf(file), new Blob(parts), mediaTypes[job.format ?? "jsonl"]);
    } finally {
      setSaving(undefined);
    }
  };
  return (
    <div className={styles.chip} data-state={job.state}>
      <JobIcon job={job} />
      <span className={styles.title}>{title}</span>
      {(running || saving !== undefined) && (
        <Progress
          className={styles.progress}
          value={percent ?? 100}
          animated={percent === undefined}
          aria-label={saving === undefined ? title : "Saving the file"}
        />
      )}
      <span className={styles.figures} title={job.failure ? `${job.failure.message} ${job.failure.hint}` : job.file}>
        {saving === undefined ? jobFigures(job) : `saving, ${Math.round(saving)} %`}
      </span>
      {(job.refused ?? 0) > 0 && (
        <Button size="compact-xs" variant="subtle" onClick={() => onReport(job)}>
          Report
        </Button>
      )}
      {job.kind === "export" && job.state === "done" && job.file && saving === undefined && (
        <>
          <Button size="compact-xs" variant="subtle" onClick={() => void attempt(save(job.file ?? ""))}>
            Save
          </Button>
          <CopyButton text={job.file} what={`the path, ${job.file}`} />
        </>
      )}
      <Tooltip label={running ? "Cancel" : job.kind === "export" ? "Remove, with its file" : "Remove"}>
        <ActionIcon
          size={20}
          aria-label={`${running ? "Cancel" : "Remove"}: ${title}`}
          onClick={() => void attempt(running ? ask("job.cancel", { job: job.id }) : ask("job.remove", { job: job.id }))}
        >
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
