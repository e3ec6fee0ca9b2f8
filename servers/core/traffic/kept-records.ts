import type { ServiceId } from "../../../contract/service.ts";
import type { KeptRecord } from "../service/service.ts";
import { readRecords, readRow, rowId } from "./row-record.ts";

/** Gives the kept records of rows with greater ids, the oldest first, some hundred kilobytes at a time; no bytes after the last. */
export type ReadKept = (after: number) => Promise<Uint8Array>;

/** The next batch is asked for when the one before was taken. */
export async function* keptRecords(service: ServiceId, readKept: ReadKept | undefined): AsyncGenerator<KeptRecord> {
  let after = 0;
  while (readKept) {
    const batch = await readKept(after);
    const before = after;
    for (const { row, detail } of readRecords(batch)) {
      after = rowId(row);
      yield { row: { service, ...readRow(row) }, detail };
    }
    if (after === before) return;
  }
}
