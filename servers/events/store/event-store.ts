import type { EventFilter, EventRow } from "../../../contract/services/events.ts";
import type { ServiceError } from "../../core/service/service-error.ts";
import type { NewEvent } from "../completion-event.ts";
import type { TimeRange } from "./time-cover.ts";

/** Filter of GET /events, which the device rollups can answer at constant cost. */
export interface KeyFilter {
  readonly device_id?: string | undefined;
  readonly outcome?: string | undefined;
}

export interface EventStats {
  readonly total_events: number;
  readonly unique_devices: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly ignored: number;
}

/** A part of what matches, the newest first. */
export interface PagePart {
  readonly limit: number;
  readonly offset: number;
  /** A keyset cursor: only smaller ids. */
  readonly after?: number | undefined;
}

/** A range of the table in the order of ids. */
export interface ScanRange {
  readonly direction: "ascending" | "descending";
  /** Only ids beyond it, in the direction of the scan. */
  readonly from?: number | undefined;
  /** Only ids up to and including it. */
  readonly to?: number | undefined;
  /** Most rows. */
  readonly limit: number;
}

/** A place in the order of time; events of one second are in the order of their ids. */
export interface TimePlace {
  readonly at: string;
  readonly id: number;
}

/** A range of the table in the order of time. */
export interface TimeScanRange {
  readonly direction: "ascending" | "descending";
  /** Only events beyond it, in the direction of the scan. */
  readonly from?: TimePlace | undefined;
  /** Most rows. */
  readonly limit: number;
  /** Matches to leave out first. */
  readonly skip: number;
}

export interface TimeScanned {
  readonly found: EventRow[];
  /** Matches left out; fewer than `skip` if the scan has to continue. */
  readonly skipped: number;
  /** Every event up to here was scanned; absent if there was none. */
  readonly reached: TimePlace | undefined;
  readonly ended: boolean;
}

export interface Scanned<Result> {
  readonly found: Result;
  /** Every id up to here was scanned; pass it as `from` to continue. */
  readonly reached: number;
  /** True if the scan reached the end. */
  readonly ended: boolean;
}

export type PlotStep = "minute" | "10 minutes" | "hour" | "day";

/** The dimensions of the plot rollups. */
export type PlotFilter = Pick<EventFilter, "outcome" | "language" | "provider">;

/** A row of the plot rollups. */
export type PlotKey = Pick<PlotCount, "at" | "language" | "provider" | "outcome">;

export interface PlotQuery {
  readonly step: PlotStep;
  /** "2026-11-20T23:28", truncated to the step; empty for all. */
  readonly since: string;
  readonly filter: PlotFilter;
  /** `edge` of the slice before. */
  readonly below: PlotKey | undefined;
}

/** Of a bounded number of rows of the plot rollups. */
export interface PlotSlice<Found> {
  readonly found: Found;
  /** The last one of these rows; undefined if there are no others. */
  readonly edge: PlotKey | undefined;
}

/** Number of events of one step, language, provider and outcome. */
export interface PlotCount {
  /** "2026-11-20T23:28", truncated to the step. */
  readonly at: string;
  readonly language: string;
  readonly provider: string;
  readonly outcome: string;
  readonly events: number;
}

/**
 * Where events are kept. Every database implements this and nothing more, and passes one contract suite.
 * Throws ServiceError with a STORE_ code for faults of the database, any other error for a row that it cannot store.
 */
export interface EventStore {
  readonly kind: "sqlite" | "postgres";
  /** For people: a file, or host and database. */
  readonly place: string;
  /** What is wrong with the file by its first bytes, before it is opened; absent where there is no file. */
  problemBefore?(): ServiceError | undefined;
  /** Connects and migrates; to be repeated after a failure. */
  open(): Promise<void>;
  /** All or none; resolves when they are durable. */
  add(events: readonly NewEvent[]): Promise<void>;
  /** Newest first. A long search is in steps; `turn` is waited for between them, by default the next one of the event loop. */
  page(filter: KeyFilter, part: PagePart, turn?: () => Promise<unknown>): Promise<EventRow[]>;
  count(filter: KeyFilter): Promise<number>;
  stats(): Promise<EventStats>;
  /** 0 when empty. */
  newestId(): Promise<number>;
  devices(prefix: string, limit: number): Promise<{ device_id: string; events: number }[]>;

  /** Rows that match any filter; scans a bounded part of the table per call. */
  scan(filter: EventFilter, range: ScanRange): Promise<Scanned<EventRow[]>>;
  /** Like `scan`, in the order of time. */
  scanInTime(filter: EventFilter, range: TimeScanRange): Promise<TimeScanned>;
  /** For each event, how many with ids up to the given one have the same values in all columns but the id. */
  countEqual(events: readonly NewEvent[], upTo: number): Promise<number[]>;
  /** Like `scan`, but counts. */
  countBetween(filter: EventFilter, range: ScanRange): Promise<Scanned<number>>;
  /** Like `scan`, but counts for a plot. */
  plotBetween(filter: EventFilter, step: PlotStep, range: ScanRange): Promise<Scanned<PlotCount[]>>;
  /** Like `scan` with ascending ids, but deletes, in one transaction with the rollups. */
  remove(filter: EventFilter, range: Omit<ScanRange, "direction">): Promise<Scanned<number>>;

  /** Counts a bounded number of new events into the plot rollups; resolves with how many are left. */
  catchUpPlots(): Promise<number>;
  /** Counts from the plot rollups, as far as they are up to date, the newest steps first; a step may be named more than once. */
  plot(query: PlotQuery): Promise<PlotSlice<PlotCount[]>>;
  /** Likewise the number of matches in whole steps of time; `edges` are the times that a scan has to count. */
  countPlotted(filter: PlotFilter, time: TimeRange): Promise<{ readonly found: number; readonly edges: readonly TimeRange[] }>;
  close(): Promise<void>;
}
