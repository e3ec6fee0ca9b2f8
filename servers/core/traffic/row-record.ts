import { isUtf8 } from "node:buffer";
import type { ServiceId } from "../../../contract/service.ts";
import type { DetailKind } from "../../../contract/traffic/detail.ts";
import type { RowMedia, Tone, TrafficRow } from "../../../contract/traffic/row.ts";
import { previewBytes } from "../../../contract/traffic/row.ts";
import { RecordError, RecordReader } from "./record-reader.ts";

/** Tones, indexed by their number in a record. */
const tones: readonly Tone[] = ["pending", "ok", "neutral", "refused", "failed", "aborted"];

export const toneIndex = (tone: Tone): number => tones.indexOf(tone);

/** A row without its texts: tone, flags of the optional fields, id, at, took, bytes in and out, parent, parts and their bytes. */
const headBytes = 62;
/** Behind the texts of a row with figures of media. */
const mediaBytes = 16;

/** Views of one record of a batch. */
export interface RecordParts {
  readonly row: Buffer;
  /** The new pieces of the detail. */
  readonly detail: Buffer;
  /** The new parts, one after the other. */
  readonly parts: Buffer;
}

/** The records of a batch, up to the first that is damaged. */
export function* readRecords(batch: Uint8Array): Generator<RecordParts> {
  const reader = new RecordReader(batch);
  try {
    while (!reader.atEnd) {
      const record = new RecordReader(reader.view(reader.u32()));
      const row = record.view(record.u32());
      const detail = record.view(record.u32());
      if (!isWhole(row)) return;
      yield { row, detail, parts: record.rest() };
    }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
  }
}

/** Whether all texts are within the row: if so, reading it cannot fail. */
function isWhole(row: Buffer): boolean {
  if (row.length < headBytes) return false;
  const given = row[1] as number;
  const end = row.length - (given & 128 ? mediaBytes : 0);
  let texts = 7 + [4, 8, 64, 128].filter((flag) => given & flag).length;
  let at = headBytes;
  for (; texts > 0 && at < end; texts--) {
    const short = row[at] as number;
    if (short === 255 && at + 5 > end) return false;
    at += short === 255 ? 5 + row.readUInt32LE(at + 1) : 1 + short;
  }
  return texts === 0 && at <= end;
}

/** Fields of a row that can be read without its texts; `row` are its bytes. */
export const rowId = (row: Buffer): number => row.readDoubleLE(2);
export const rowTone = (row: Buffer): Tone => tones[row[0] as number] ?? "aborted";
export const rowParent = (row: Buffer): number | undefined => ((row[1] as number) & 2 ? row.readDoubleLE(42) : undefined);
/** Not all of its content is kept. */
export const rowIsCut = (row: Buffer): boolean => ((row[1] as number) & 32) !== 0;
/** All texts as one, including the bytes between them, one character per byte. */
export const rowTexts = (row: Buffer): string => row.toString("latin1", headBytes);
/** Zeros for a row without parts. */
export const rowParts = (row: Buffer): { readonly total: number; readonly bytes: number } => ({
  total: row.readUInt32LE(50),
  bytes: row.readDoubleLE(54),
});

/** Throws a RecordError for bytes that are not a row. */
export function readRow(row: Buffer): Omit<TrafficRow, "service"> {
  if (row.length < headBytes) throw new RecordError("a row is too short");
  const given = row[1] as number;
  const texts = new RecordReader(row, headBytes);
  const kind = texts.text() as DetailKind;
  const parent = rowParent(row);
  return {
    id: rowId(row),
    ...(parent !== undefined && { parent }),
    at: row.readDoubleLE(10),
    kind,
    verb: texts.text(),
    target: texts.text(),
    tone: rowTone(row),
    outcome: texts.text(),
    ...((given & 1) !== 0 && { tookMs: row.readDoubleLE(18) }),
    bytesIn: row.readDoubleLE(26),
    bytesOut: row.readDoubleLE(34),
    ...((given & 16) !== 0 && { parts: row.readUInt32LE(50) }),
    client: texts.text(),
    peer: texts.text(),
    preview: previewText(texts.bytes()),
    ...((given & 4) !== 0 && { user: texts.text() }),
    ...((given & 8) !== 0 && { reason: texts.text() }),
    ...((given & 64) !== 0 && { peerName: texts.text() }),
    ...((given & 128) !== 0 && { media: readMedia(texts) }),
  };
}

function readMedia(reader: RecordReader): RowMedia {
  const over = reader.text();
  const lossFraction = reader.f64();
  const jitterMs = reader.milliseconds();
  return { over, ...(!Number.isNaN(lossFraction) && { lossFraction }), ...(jitterMs !== undefined && { jitterMs }) };
}

/** The start of a body on one line; empty where it is not text. */
export function previewText(start: string | Buffer): string {
  const text = typeof start === "string" ? start.slice(0, previewBytes) : decodeStart(start.subarray(0, previewBytes));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark it as binary
  return /[\0-\x08\x0e-\x1f]/.test(text) ? "" : text.replace(/\s+/g, " ").trim();
}

function decodeStart(start: Buffer): string {
  // The last character may be cut: the last three bytes are ignored.
  if (!isUtf8(start) && ![1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)))) return "";
  return start.toString("utf8").replace(/\uFFFD{1,3}$/, "");
}

/** A record of an earlier process that the supervisor kept. */
export interface KeptRecord {
  readonly row: TrafficRow;
  /** All that the row's entry wrote of its detail. */
  readonly detail: Buffer;
}

/** Returns the kept records of rows with greater ids, the oldest first, some hundred kilobytes at a time; no bytes after the last. */
export type ReadKept = (after: number) => Promise<Uint8Array>;

/** Of rows with ids below `before`. The next batch is requested when the previous one was consumed. */
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
