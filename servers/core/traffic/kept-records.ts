import type { ServiceId } from "../../../contract/service.ts";
import type { KeptRecord } from "../service/service.ts";
import { readRecords, readRow, rowId } from "./row-record.ts";

/** Gives the kept records of rows with greater ids, the oldest first, some hundred kilobytes at a time; no bytes after the last. */
export type ReadKept = (after: number) => Promise<Uint8Array>;

/** Of rows with ids below `before`. The next batch is asked for when the one before was taken. */
export async function* keptRecords(service: ServiceId, readKept: ReadKept | undefined, before: number): AsyncGenerator<KeptRecord> {
  let after = 0;
  while (readKept) {
    const batch = await readKept(after);
    const last = after;
    for (const { row, detail } of readRecords(batch)) {
      after = rowId(row);
      if (after >= before) return;
      yield { row: { service, ...readRow(row) }, detail };
    }
    if (after === last) return;
  }
}
