import { open, rm } from "node:fs/promises";
import path from "node:path";
import type { Failure, ServiceId } from "../contract/service.ts";
import type { RecordedFile } from "./console-output.ts";
import { makeFolder } from "./core/files/make-folder.ts";
import { toFailure } from "./core/service/service-error.ts";
import { saveExport, unfinishedName, unwritable } from "./supervisor/export-file.ts";
import type { Supervisor } from "./supervisor/supervisor.ts";

/** Makes the folder, and sees that files can be written there: at the end of the run it would be too late. Throws EXPORT_UNWRITABLE. */
export async function checkRecordFolder(folder: string): Promise<void> {
  const attempt = unfinishedName(path.join(folder, "check"));
  try {
    makeFolder(folder);
    await (await open(attempt, "wx", 0o600)).close();
    await rm(attempt);
  } catch (error) {
    throw unwritable(folder, error as Error);
  }
}

/**
 * Writes what is kept of each service that was asked for or has had traffic, as a dashboard exports it without credentials: one file after the
 * other, part by part. Resolves with the first failure, after it has tried the others.
 */
export async function recordTraffic(
  supervisor: Pick<Supervisor, "recorded">,
  folder: string,
  asked: readonly ServiceId[],
  told: (file: RecordedFile) => void,
): Promise<Failure | undefined> {
  let failure: Failure | undefined;
  for (const { id, total, kept, formats, read } of supervisor.recorded()) {
    if (total === 0 && !asked.includes(id)) continue;
    for (const format of formats) {
      const file = path.join(folder, `${id}.${format}`);
      let [items, written] = [0, 0];
      try {
        await saveExport(file, {
          read: read(format),
          signal: new AbortController().signal,
          onPart(part, bytes) {
            items += part.items;
            written += bytes;
          },
        });
        told({ service: id, file, items, bytes: written, leftOut: total - kept });
      } catch (error) {
        failure ??= toFailure(error);
      }
    }
  }
  return failure;
}
