import type { RowDetail, TrafficPage } from "../../../contract/control.ts";
import type { ServiceId } from "../../../contract/service.ts";
import type { DetailPartPage } from "../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { ServiceBatch } from "../../core/service/link.ts";
import type { DetailDecoder, DetailDecoders, RecordedPart } from "../../core/traffic/detail-decoder.ts";
import { outboxLimits } from "../../core/traffic/outbox.ts";
import { RecordError } from "../../core/traffic/record-reader.ts";
import { RecordWriter } from "../../core/traffic/record-writer.ts";
import { type RecordParts, readRecords, readRow, rowId, rowParts, rowTone } from "../../core/traffic/row-record.ts";
import { OpenRows } from "./open-rows.ts";
import { PartLists } from "./part-lists.ts";
import { RecordLog } from "./record-log.ts";
import { RowIndex } from "./row-index.ts";
import { isFiltering, type RowFilter } from "./row-matcher.ts";
import { createRowSearch, type RowRange, type TrafficQuery } from "./row-search.ts";
import { ShownRows } from "./shown-rows.ts";
import type { TrafficMemory } from "./traffic-memory.ts";
import { createSlices, type Turns } from "./turns.ts";

export interface TrafficStoreOptions {
  readonly service: ServiceId;
  readonly decoders: DetailDecoders;
  readonly memory: TrafficMemory;
  readonly turns: Turns;
  /** Ended rows at most; open ones are kept beside them. */
  readonly rows: number;
}

/** The recorded traffic of one service, kept as bytes, also after its process has ended. */
export interface TrafficStore {
  add(batch: Pick<ServiceBatch, "records" | "droppedRows">): void;
  readonly decoders: DetailDecoders;
  /** Decodes the rows of a batch; separate from `add`, since usually there are no subscribers. */
  rowsOf(batch: Pick<ServiceBatch, "records">): readonly TrafficRow[];
  /** `caller` takes turns with others. */
  read(query: TrafficQuery, caller?: unknown): Promise<TrafficPage>;
  /** The oldest rows after an id, at most up to another one: for reading all of them in their order. */
  readAfter(query: RowRange, caller?: unknown): Promise<readonly TrafficRow[]>;
  /** Those of the rows that are kept and match. */
  match(rows: readonly number[], filter: RowFilter, caller?: unknown): Promise<readonly number[]>;
  /** As in a page of rows. */
  counts(): Pick<TrafficPage, "kept" | "total" | "dropped">;
  /** The newest id; 0 before the first row. */
  newestId(): number;
  detail(row: number): Promise<RowDetail | null>;
  parts(row: number, from: number | undefined, limit: number): Promise<DetailPartPage | null>;
  /** Records of rows with greater ids, in the form of a batch, the oldest first, up to some hundred kilobytes; without parts. */
  records(after: number): Uint8Array;
  /** Ends the rows that a process left open when it died, in slices; `told` gets them. */
  abandon(outcome: string, told?: (rows: readonly TrafficRow[]) => void): void;
  /** Rows that are open stay. */
  clear(): { readonly cleared: number; readonly left: number };
  restore(): number;
  /** Changes the bound of ended rows. */
  limitRows(rows: number): void;
  /** Rows that the service had to drop, since its first start. */
  readonly dropped: number;
  /** The first row id of the service's next process. */
  nextId(): number;
}

const nothing = Buffer.alloc(0);
const inNoSegment = { segment: 0, offset: 0 };
const recordsBytes = 256 << 10;
/** Content of the parts in one answer; one part is always in it. */
const partPageBytes = 1 << 20;
/** Open rows that are ended in a step. */
const abandonedAtOnce = 50;

export function createTrafficStore({ service, decoders, memory, turns, rows: rowLimit }: TrafficStoreOptions): TrafficStore {
  const index = new RowIndex();
  const log = new RecordLog(memory.segments);
  /** Open rows: not in the log, so they are not evicted. */
  const open = new OpenRows();
  /** Kept rows whose detail was released while they were open. */
  const withoutDetail = new Set<number>();
  const parts = new PartLists();
  let mostRows = rowLimit;
  const shown = new ShownRows(index);
  let highestId = 0;
  let firstOfNext = 1;
  let total = 0;
  /** Dropped by earlier processes, and by the running one. */
  let droppedBefore = 0;
  let droppedNow = 0;

  memory.join({
    get bytes() {
      return log.bytes + open.bytes + parts.bytes;
    },
    evict: (bytes) =>
      (open.detailBytes > log.bytes + parts.bytes && releaseDetails(bytes)) ||
      (parts.bytes > log.bytes && parts.cut(bytes)) ||
      evictOldest(bytes) ||
      parts.cut(bytes),
  });

  /** Of the oldest open rows, where all that has ended has less: a client may leave thousands open. */
  function releaseDetails(bytes: number): boolean {
    const released = open.releaseDetails(bytes);
    for (const id of released) withoutDetail.add(id);
    return released.length > 0;
  }
  /** False if no memory was freed: only the newest row is left. */
  function evictOldest(bytes: number): boolean {
    const before = log.bytes + parts.bytes;
    while (log.records > 1 && log.bytes + parts.bytes > before - bytes) dropOldest();
    return log.bytes + parts.bytes < before;
  }
  function dropOldest() {
    const place = log.oldest();
    if (!place) return;
    const id = rowId(log.row(place));
    const at = index.find(id);
    const kept = at === -1 ? undefined : index.placeAt(at);
    // If the row was written again after its end, its record is at a later position.
    if (kept?.segment === place.segment && kept.offset === place.offset) {
      index.remove(at);
      withoutDetail.delete(id);
      parts.drop(id);
      shown.drop(id);
    }
    log.dropOldest();
  }

  function addRecord({ row, detail, parts: added }: RecordParts) {
    const id = rowId(row);
    if (!Number.isSafeInteger(id) || id < 1) return;
    placeRow(id, row, detail);
    if (added.length > 0) parts.add(id, added);
  }
  function placeRow(id: number, row: Buffer, written: Buffer) {
    const isOpen = rowTone(row) === "pending";
    const detail = withoutDetail.has(id) ? nothing : written;
    if (open.has(id)) {
      if (isOpen) {
        open.put(id, row, detail);
        return;
      }
      index.set(index.find(id), log.append(row, [...open.detail(id), detail]));
      open.delete(id);
      return;
    }
    const at = id > highestId ? -1 : index.find(id);
    if (at !== -1) {
      // The row was written again after its end.
      index.set(at, log.append(row, [Buffer.from(log.detail(index.placeAt(at))), detail]));
      return;
    }
    total++;
    highestId = Math.max(highestId, id);
    firstOfNext = Math.max(firstOfNext, id + 1);
    if (!isOpen) {
      index.add(id, log.append(row, [detail]));
      return;
    }
    open.put(id, row, detail);
    index.add(id, inNoSegment);
  }
  const dropSurplus = createSlices(() => {
    if (log.records > mostRows) dropOldest();
    return log.records <= mostRows;
  });
  function bound() {
    dropSurplus();
    memory.makeRoom();
  }

  const rowAt = (at: number): Buffer => {
    const place = index.placeAt(at);
    return place.segment === 0 ? (open.row(index.idAt(at)) as Buffer) : log.row(place);
  };
  const detailAt = (at: number): Buffer => {
    const place = index.placeAt(at);
    return place.segment === 0 ? Buffer.concat(open.detail(index.idAt(at))) : log.detail(place);
  };
  const decode = (row: Buffer): TrafficRow => ({ service, ...readRow(row) });
  const rowsOf: TrafficStore["rowsOf"] = (batch) => Array.from(readRecords(batch.records), ({ row }) => decode(row));
  const search = createRowSearch({
    service,
    index,
    shown,
    rowAt,
    *contentsAt(at) {
      yield detailAt(at);
      for (const { content } of parts.from(index.idAt(at), 0)) yield content;
    },
    decode,
  });

  /** Null if the row is not kept or its record is damaged. */
  async function look<Result>(id: number, read: (decoder: DetailDecoder, at: number) => Result): Promise<Result | null> {
    const known = index.find(id);
    if (known === -1) return null;
    const { kind } = decode(rowAt(known));
    const decoder: DetailDecoder | undefined = Object.hasOwn(decoders, kind) ? await decoders[kind]?.() : undefined;
    // It may have been evicted meanwhile.
    const at = index.find(id);
    if (!decoder || at === -1) return null;
    try {
      return read(decoder, at);
    } catch (error) {
      if (error instanceof RecordError) return null;
      throw error;
    }
  }

  function part(row: number, wanted: number): RecordedPart | undefined {
    for (const found of parts.from(row, wanted)) return found.index === wanted ? found : undefined;
    return undefined;
  }
  function partsOf(id: number, row: Buffer) {
    const { total: all, bytes } = rowParts(row);
    const list = parts.get(id);
    return { total: all, bytes, leftOut: all - (list?.parts ?? 0), leftOutBytes: bytes - (list?.contentBytes ?? 0) };
  }

  function counts() {
    const dropped = droppedBefore + droppedNow;
    return { kept: shown.count, total: total + dropped, dropped };
  }
  function newest({ before, limit }: TrafficQuery): TrafficPage {
    const rows: TrafficRow[] = [];
    let at = shown.before(before ?? Number.POSITIVE_INFINITY);
    for (; at !== -1 && rows.length < limit; at = shown.before(index.idAt(at))) rows.push(decode(rowAt(at)));
    return page(rows, shown.count);
  }
  function page(rows: readonly TrafficRow[], matching: number, searchedInPart = 0): TrafficPage {
    return { rows, matching, ...(searchedInPart > 0 && { searchedInPart }), ...counts() };
  }
  async function filtered(query: TrafficQuery, caller: unknown): Promise<TrafficPage> {
    const { rows, matching, searchedInPart } = await turns.run(caller, search.find(query));
    return page(rows, matching, searchedInPart);
  }
  return {
    add(batch) {
      for (const record of readRecords(batch.records)) addRecord(record);
      droppedNow = batch.droppedRows;
      bound();
    },
    decoders,
    rowsOf,
    read: async (query, caller) => (isFiltering(query) || query.sort ? filtered(query, caller) : newest(query)),
    readAfter: (query, caller) => turns.run(caller, search.findAfter(query)),
    match: (ids, filter, caller) => turns.run(caller, search.findAmong(ids, filter)),
    counts,
    newestId: () => highestId,
    detail: async (id) => {
      if (withoutDetail.has(id)) return null;
      return look(id, (decoder, at) => {
        const bytes = rowAt(at);
        const row = decode(bytes);
        return { row, detail: decoder.detail({ row, detail: detailAt(at), parts: partsOf(id, bytes), part }) };
      });
    },
    parts: (id, from, limit) =>
      look(id, (decoder, at) => {
        const { total: all, leftOut } = partsOf(id, rowAt(at));
        const list = parts.get(id);
        const page = [];
        let next = from ?? 0;
        let bytes = 0;
        for (const found of list?.from(from ?? list.newest(limit, partPageBytes)) ?? []) {
          bytes += found.content.length;
          if (page.length === limit || (page.length > 0 && bytes > partPageBytes)) break;
          if (decoder.part) page.push(decoder.part(found));
          next = found.index + 1;
        }
        return { parts: page, next, total: all, leftOut };
      }),
    records(after) {
      const writer = new RecordWriter();
      for (let at = index.below(after + 1); at < index.size && writer.length < recordsBytes; at++) {
        writer.copy(rowAt(at), detailAt(at));
      }
      return writer.take();
    },
    abandon(outcome, told) {
      droppedBefore += droppedNow;
      // Rows that were lost in its queue had ids too: the next process starts after them.
      firstOfNext += droppedNow + outboxLimits.entries;
      droppedNow = 0;
      const left = [...open.ids()].reverse();
      createSlices(() => {
        const writer = new RecordWriter();
        for (const id of left.splice(-abandonedAtOnce).reverse()) {
          const row = open.row(id);
          if (!row) continue;
          const { preview, ...fields } = readRow(row);
          writer.begin();
          writer.row({ ...fields, tone: "aborted", outcome, preview, partBytes: rowParts(row).bytes });
          writer.end();
        }
        const records = writer.take();
        for (const record of readRecords(records)) addRecord(record);
        bound();
        if (records.length > 0) told?.(rowsOf({ records }));
        return left.length === 0;
      })();
    },
    clear() {
      const before = shown.count;
      shown.clear(highestId, open.ids());
      return { cleared: before - shown.count, left: shown.count };
    },
    restore() {
      const before = shown.count;
      shown.restore();
      return shown.count - before;
    },
    limitRows(rows) {
      mostRows = rows;
      bound();
    },
    get dropped() {
      return droppedBefore + droppedNow;
    },
    nextId: () => firstOfNext,
  };
}
