import type { ServiceId } from "../../contract/service.ts";
import type { Detail, DetailKind, DetailPart } from "../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { services } from "../../servers/catalog.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import type { TrafficEntry } from "../../servers/core/service/service.ts";
import { type DetailDecoder, type DetailDecoders, type RecordedPart, readPart } from "../../servers/core/traffic/detail-decoder.ts";
import { RecordError } from "../../servers/core/traffic/record-reader.ts";
import { RecordWriter, type RowFields } from "../../servers/core/traffic/record-writer.ts";
import { readRecords, readRow, rowParts } from "../../servers/core/traffic/row-record.ts";

export type Row = Omit<TrafficRow, "service"> & { readonly isCut?: boolean };

/** Of every kind that a service of the catalog records. */
export const allDecoders: DetailDecoders = Object.assign({}, ...services.map(({ details }) => details));
const kinds = new Map<string, { readonly service: ServiceId; readonly decoder: DetailDecoder }>();
for (const { id, details } of services) {
  for (const [kind, load] of Object.entries(details)) if (!kinds.has(kind)) kinds.set(kind, { service: id, decoder: await load() });
}

/** Its decoder, and the first service that records it. */
function recorded(kind: DetailKind) {
  const found = kinds.get(kind);
  if (!found) throw new RecordError(`no service of the catalog has a decoder for ${kind}`);
  return found;
}

export const rowsOfBatch = ({ records }: Pick<ServiceBatch, "records">): Row[] =>
  Array.from(readRecords(records), ({ row }) => readRow(row));

/** The rows of batches with their details and parts, as the supervisor makes them of what it keeps. */
export function createRecorded() {
  const rows = new Map<number, Row>();
  const details = new Map<number, Buffer[]>();
  const parts = new Map<number, RecordedPart[]>();
  const totals = new Map<number, { readonly total: number; readonly bytes: number }>();
  const partsOf = (id: number) => parts.get(id) ?? [];
  return {
    rows,
    /** Of an entry or a batch; returns the ids. */
    add({ records }: Pick<ServiceBatch, "records">): number[] {
      return Array.from(readRecords(records), (record) => {
        const row = readRow(record.row);
        rows.set(row.id, row);
        totals.set(row.id, rowParts(record.row));
        const ofDetail = details.get(row.id) ?? [];
        ofDetail.push(Buffer.from(record.detail));
        details.set(row.id, ofDetail);
        const ofParts = partsOf(row.id);
        const copied = Buffer.from(record.parts);
        for (let at = 0; at < copied.length; at += 4 + copied.readUInt32LE(at)) {
          ofParts.push(readPart(copied.subarray(at + 4, at + 4 + copied.readUInt32LE(at))));
        }
        if (ofParts.length > 0) parts.set(row.id, ofParts);
        return row.id;
      });
    },
    detail(id: number): Detail | undefined {
      const row = rows.get(id);
      const all = totals.get(id) ?? { total: 0, bytes: 0 };
      if (!row) return undefined;
      const { service, decoder } = recorded(row.kind);
      return decoder.detail({
        row: { service, ...row },
        detail: Buffer.concat(details.get(id) ?? []),
        parts: { ...all, leftOut: all.total - partsOf(id).length, leftOutBytes: 0 },
        part: (parent, index) => partsOf(parent).find((part) => part.index === index),
      });
    },
    parts(id: number): DetailPart[] {
      const row = rows.get(id);
      return row ? partsOf(id).flatMap((part) => recorded(row.kind).decoder.part?.(part) ?? []) : [];
    },
  };
}

/** What an entry writes. */
export function recordOf(entry: TrafficEntry): Buffer {
  const writer = new RecordWriter();
  writer.begin();
  entry.write(writer);
  writer.end();
  return writer.take();
}

export interface TestRecord {
  readonly row: Row;
  readonly detail?: Uint8Array;
  readonly parts?: readonly { readonly index: number; readonly content: Uint8Array; readonly row?: number; readonly flags?: number }[];
}

/** Records as a service would send them. */
export function recordsOf(records: readonly TestRecord[]): Buffer {
  const writer = new RecordWriter();
  for (const { row, detail, parts = [] } of records) {
    writer.begin();
    writer.row({ ...row, partBytes: (row.parts ?? 0) * 10 } satisfies RowFields);
    if (detail) writer.latin1(Buffer.from(detail).toString("latin1"));
    for (const part of parts) writer.part(part.index, part.index, part.content.length, part.flags ?? 0, part.row ?? 0, part.content);
    writer.end();
  }
  return writer.take();
}
