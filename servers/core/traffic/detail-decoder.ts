import type { DetailKind, DetailPart, Details } from "../../../contract/traffic/detail.ts";
import type { PartsSummary } from "../../../contract/traffic/parts.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { FoundCredentials } from "../credentials/found-credentials.ts";
import { RecordReader } from "./record-reader.ts";

/** A part as it is kept. */
export interface RecordedPart {
  readonly index: number;
  readonly at: number;
  /** Of the whole content; `content` may be truncated. */
  readonly bytes: number;
  /** Bits whose meaning depends on the kind. */
  readonly flags: number;
  /** `TrafficRow.id` of the part's own row; 0 without. */
  readonly row: number;
  readonly content: Buffer;
}

/** A row with what was recorded of its detail: all that its entry wrote, concatenated. */
export interface RecordedRow {
  readonly row: TrafficRow;
  readonly detail: Buffer;
  /** Zeros for a row without parts. */
  readonly parts: PartsSummary;
  /** A kept part of any row of the service. */
  part(row: number, index: number): RecordedPart | undefined;
}

/** Decodes recorded bytes when a row is opened. May throw if the bytes are damaged. */
export interface DetailDecoder<Kind extends DetailKind = DetailKind> {
  detail(recorded: RecordedRow): Details[Kind];
  /** For a kind that has parts. */
  part?(part: RecordedPart): DetailPart;
  /**
   * For exports: the same without passwords, tokens and other credentials (`servers/core/http/record/without-credentials.ts`). `found` has those that are
   * known, which are hidden wherever they occur, and gets those that are found.
   */
  withoutCredentials(exported: ExportedRow<Kind>, found: FoundCredentials): ExportedRow<Kind>;
  /** The same of one of its parts. Parts of a kind without it have rows of their own, and are not exported with this one. */
  partWithoutCredentials?(part: DetailPart, found: FoundCredentials): DetailPart;
}

export interface ExportedRow<Kind extends DetailKind = DetailKind> {
  readonly row: TrafficRow;
  /** Null where it is not kept any more. */
  readonly detail: Details[Kind] | null;
}

/** By the kind of the row; loaded when the first one is opened. */
export type DetailDecoders = { readonly [Kind in DetailKind]?: () => Promise<DetailDecoder<Kind>> };

/** One part as `RecordWriter.part` wrote it, without its length prefix. */
export function readPart(bytes: Buffer): RecordedPart {
  const reader = new RecordReader(bytes);
  return {
    index: reader.u32(),
    at: reader.f64(),
    bytes: reader.u32(),
    flags: reader.u8(),
    row: reader.f64(),
    content: reader.rest(),
  };
}
