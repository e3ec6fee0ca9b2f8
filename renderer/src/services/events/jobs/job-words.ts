import type { EventJob } from "../../../../../contract/services/events.ts";
import { formatBytes, formatCount, formatCountOf, pluralOf } from "../../../ui/texts/quantity.ts";

const titles: Readonly<Record<EventJob["kind"], Readonly<Record<EventJob["state"], string>>>> = {
  import: { running: "Importing", done: "Imported", cancelled: "Import cancelled", failed: "Import failed" },
  delete: { running: "Deleting events", done: "Deleted", cancelled: "Deletion cancelled", failed: "Deletion failed" },
  generate: { running: "Generating events", done: "Generated", cancelled: "Generation cancelled", failed: "Generation failed" },
};
const importing: Readonly<Record<NonNullable<EventJob["format"]>, string>> = { jsonl: "Importing JSONL", csv: "Importing CSV" };

/** "Importing JSONL", "Imported", "Deletion cancelled" */
export const jobTitle = ({ kind, state, format }: EventJob): string =>
  kind === "import" && state === "running" && format ? importing[format] : titles[kind][state];

/** "8,214 of 12,480" or "8,214 events · 37 % of 5.6 MB" while it runs, "12,480 events · 3.2 MB" after; with the events that an import found stored already, and the lines that it refused. */
export function jobFigures(job: EventJob): string {
  const { state, done, total, bytes, size, existing = 0, refused = 0, failure } = job;
  const counted =
    state === "running" && total !== undefined ? `${formatCount(done)} of ${formatCount(total)}` : formatCountOf(done, "event");
  const read =
    state === "running" && size ? `${Math.floor(jobPercent(job) ?? 0)} % of ${formatBytes(size)}` : bytes > 0 && formatBytes(bytes);
  const stored = existing > 0 && `${formatCount(existing)} ${pluralOf(existing, "was", "were")} there already`;
  return [failure?.message, counted, stored, read, refused > 0 && `${formatCountOf(refused, "line")} refused`].filter(Boolean).join(" · ");
}

/** 0 to 100; undefined where the total is not known. */
export function jobPercent({ state, done, total, bytes, size }: EventJob): number | undefined {
  if (state !== "running") return 100;
  if (size) return Math.min(100, (bytes / size) * 100);
  return total === undefined || total === 0 ? undefined : Math.min(100, (done / total) * 100);
}

const shownForMs = 8_000;

/** The job for the bar: one that runs, then the newest failed one; a successful one is hidden after a while. */
export function shownJob(jobs: readonly EventJob[], now: number): EventJob | undefined {
  const waits = ({ failure, refused = 0 }: EventJob) => failure !== undefined || refused > 0;
  return (
    jobs.find(({ state }) => state === "running") ?? jobs.find((job) => waits(job) || now - (job.endedAt ?? job.startedAt) < shownForMs)
  );
}
