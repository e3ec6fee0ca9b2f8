import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { type EventFilter, type EventFormat, type EventRow, eventColumns } from "../../../contract/events.ts";
import type { EventStore } from "../store/event-store.ts";
import { csvLine } from "./csv.ts";
import { type JobContext, nextTurn } from "./event-jobs.ts";

const rowsAtOnce = 1_000;

/**
 * Writes what matches into a file, the oldest first, so that an import keeps the order. Holds one batch of rows at a time.
 * The file has its name only when it is whole; one that was cancelled or failed is removed.
 */
export async function exportEvents(parts: {
  readonly store: EventStore;
  readonly format: EventFormat;
  readonly filter: EventFilter;
  readonly file: string;
  readonly job: JobContext;
}): Promise<void> {
  const { store, format, filter, file, job } = parts;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.part`;
  const handle = await open(unfinished, "wx", 0o600);
  try {
    let bytes = 0;
    let done = 0;
    const write = async (text: string) => {
      bytes += (await handle.write(text)).bytesWritten;
    };
    if (format === "csv") await write(csvLine(eventColumns));
    const newest = await store.newestId();
    let from: number | undefined;
    for (let ended = newest === 0; !ended; ) {
      job.signal.throwIfAborted();
      const scanned = await store.scan(filter, { direction: "ascending", from, to: newest, limit: rowsAtOnce });
      if (scanned.found.length > 0) await write(scanned.found.map((row) => lineOf(row, format)).join(""));
      done += scanned.found.length;
      from = scanned.reached;
      ended = scanned.ended;
      job.progress({ done, bytes, ...(done > (job.job.total ?? 0) && { total: done }) });
      await nextTurn();
    }
    await handle.sync();
    await handle.close();
    await rename(unfinished, file);
    job.progress({ done, bytes, total: done });
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(unfinished, { force: true });
    throw error;
  }
}

const lineOf = (row: EventRow, format: EventFormat) =>
  format === "csv" ? csvLine(eventColumns.map((column) => row[column] ?? "")) : `${JSON.stringify(row)}\n`;
