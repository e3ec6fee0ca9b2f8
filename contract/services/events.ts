/** Actions and views of the events service. */
import { z } from "zod";
import { exportAction } from "../export.ts";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { Failure } from "../service.ts";
import { httpActions } from "./http.ts";

export const eventOutcomes = ["accepted", "rejected", "ignored"] as const;
export type EventOutcome = (typeof eventOutcomes)[number];

/** A stored event as GET /events and the exports show it: booleans as 0 and 1, `recent_actions` as a JSON string. */
export interface EventRow {
  readonly id: number;
  /** "2026-11-20T23:28:12Z" */
  readonly created_at: string;
  /** SHA-256 of the client's address, in hex. */
  readonly ip_hash: string;
  readonly plugin_version: string;
  readonly device_id: string;
  /** One of `eventOutcomes`, or what an older file holds. */
  readonly outcome: string;
  readonly file_ext: string;
  readonly language: string;
  readonly prefix_length: number;
  readonly trimmed_prefix_length: number;
  readonly line_count: number;
  readonly relative_position: number;
  readonly after_cursor_ws: number;
  readonly last_char: string;
  readonly last_nonws_char: string;
  readonly indentation_level: number;
  readonly completion_lines: number;
  readonly completion_additions: number;
  readonly completion_deletions: number;
  readonly completion_source: string;
  readonly manually_triggered: number;
  readonly provider: string;
  readonly stage_index: number;
  readonly cursor_target_distance: number;
  readonly is_prefetched: number;
  readonly display_duration_ms: number;
  readonly time_since_last_edit_ms: number;
  readonly typing_speed: number;
  readonly recent_actions: string;
  readonly has_diagnostics: number;
  readonly treesitter_scope: string;
  readonly edit_count: number;
  readonly predicted_edit_ratio: number;
  readonly completions_since_accept: number;
}

/** In the order of the table, the API and the exports. */
export const eventColumns = [
  "id",
  "created_at",
  "ip_hash",
  "plugin_version",
  "device_id",
  "outcome",
  "file_ext",
  "language",
  "prefix_length",
  "trimmed_prefix_length",
  "line_count",
  "relative_position",
  "after_cursor_ws",
  "last_char",
  "last_nonws_char",
  "indentation_level",
  "completion_lines",
  "completion_additions",
  "completion_deletions",
  "completion_source",
  "manually_triggered",
  "provider",
  "stage_index",
  "cursor_target_distance",
  "is_prefetched",
  "display_duration_ms",
  "time_since_last_edit_ms",
  "typing_speed",
  "recent_actions",
  "has_diagnostics",
  "treesitter_scope",
  "edit_count",
  "predicted_edit_ratio",
  "completions_since_accept",
] as const satisfies readonly (keyof EventRow)[];
export type EventColumn = (typeof eventColumns)[number];

/** The plugin version of events that sample traffic or "Generate sample events" has stored. */
export const samplePluginVersion = "sample";

/** Before 31 December 9999, the last day that an event can have: filters are compared by the days behind them too. */
const time = z.int().min(0).max(253_402_214_399_999);

/** A filter of events: every given part must match. */
const eventFilter = z.strictObject({
  device_id: z.string().max(100).optional(),
  outcome: z.string().max(30).optional(),
  language: z.string().max(30).optional(),
  provider: z.string().max(30).optional(),
  /** Somewhere in device, outcome, language, provider, file extension, plugin version or scope; letter case does not matter. */
  text: z
    .string()
    .max(100)
    // The text of a statement ends there for SQLite, and PostgreSQL has none.
    .refine((text) => !text.includes("\0"), "no event has the character U+0000")
    .optional(),
  /** Milliseconds since the epoch, both included; events have whole seconds. */
  from: time.optional(),
  to: time.optional(),
  /** Only sample events, or all others. */
  sample: z.enum(["only", "without"]).optional(),
});
export type EventFilter = z.output<typeof eventFilter>;

export const eventRanges = ["15m", "1h", "24h", "7d", "all"] as const;
export type EventRange = (typeof eventRanges)[number];

const eventFormats = ["csv", "jsonl"] as const;
export type EventFormat = (typeof eventFormats)[number];

/** A place in the order of ids, or with `at` in the order of time: events of one second are in the order of their ids. */
const eventPlace = z.strictObject({ id: z.int(), at: z.string().max(1_000).optional() });
export type EventPlace = z.output<typeof eventPlace>;

export interface EventPage {
  readonly rows: readonly EventRow[];
  /** How many match; a lower bound where `exact` is false. */
  readonly matching: number;
  readonly exact: boolean;
  /** There are older rows to read with `before`, or rows not scanned yet. */
  readonly more: boolean;
  /** `before` of the next page; every event up to here was scanned. */
  readonly reached: EventPlace;
  /** Set if sorted by a column other than id and time: only so many of the newest matching rows are sorted. */
  readonly sortedAmong?: number;
}

export interface OutcomePlot {
  readonly step: "minute" | "10 minutes" | "hour" | "day";
  /** Start of each step in milliseconds; steps without events are in it. */
  readonly at: readonly number[];
  /** `counts[i]` belongs to `at[i]`. */
  readonly series: readonly { readonly outcome: string; readonly counts: readonly number[] }[];
  /** The 50 with the most events, then the rest. */
  readonly byLanguage: readonly AcceptanceBar[];
  readonly byProvider: readonly AcceptanceBar[];
  readonly total: number;
  readonly accepted: number;
  /** Events not counted into the plots yet: ask again. */
  readonly behind: number;
  /** Set if only so many of the newest events were scanned in the time allowed: a text or a device is searched event by event. */
  readonly sampled?: number;
}

export interface AcceptanceBar {
  /** Empty where events have none, and of the rest. */
  readonly name: string;
  /** All names together that have no bar of their own. */
  readonly isRest?: boolean;
  readonly total: number;
  readonly accepted: number;
}

export interface RefusedLine {
  /** 1 is the first of the file. */
  readonly line: number;
  readonly reason: string;
}

export interface EventJob {
  readonly id: number;
  readonly kind: "import" | "delete" | "generate";
  readonly state: "running" | "done" | "cancelled" | "failed";
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Events processed so far. */
  readonly done: number;
  /** Expected total; absent if it cannot be known. */
  readonly total?: number;
  /** Read. */
  readonly bytes: number;
  /** Of an import: bytes in all, if the sender knows. */
  readonly size?: number;
  /** Of an import, like the rest. */
  readonly format?: EventFormat;
  /** Events that were stored before the import began, and were not stored again. */
  readonly existing?: number;
  readonly refused?: number;
  /** The first of them. */
  readonly refusedLines?: readonly RefusedLine[];
  readonly failure?: Failure;
}

export interface LimitGauge {
  readonly name: "POST /events" | "GET /events" | "GET /stats";
  readonly requests: number;
  readonly windowSeconds: number;
  /** Addresses that sent a request in the window. */
  readonly clients: number;
  /** Since the start. */
  readonly refused: number;
  readonly busiest?: { readonly client: string; readonly used: number; readonly refused: number };
}

/** `view/events`, by name. */
export interface EventsViews extends SampleViews {
  /** At most four times a second, when something was stored or deleted. */
  readonly totals: {
    readonly newestId: number;
    readonly events: number;
    readonly devices: number;
    readonly accepted: number;
    readonly rejected: number;
    readonly ignored: number;
  };
  readonly limits: { readonly on: boolean; readonly shared: boolean; readonly gauges: readonly LimitGauge[] };
  /** The newest first; at most 20. */
  readonly jobs: readonly EventJob[];
  readonly storage: {
    readonly kind: "sqlite" | "postgres";
    /** The file, or host and database; never a password. */
    readonly place: string;
    readonly failure?: Failure;
  };
}

const none = z.strictObject({});
const filter = eventFilter.default({});
const oneJob = z.strictObject({ job: z.int() });

export const eventsActions = {
  /** Newest first unless sorted otherwise. `offset` needs an `exact` page; `before` works with every filter. */
  page: operation<EventPage>()(
    z.strictObject({
      filter,
      sort: z.enum(eventColumns).default("id"),
      direction: z.enum(["ascending", "descending"]).default("descending"),
      limit: z.int().min(1).max(500).default(100),
      offset: z.int().min(0).default(0),
      /** Only events beyond it, in the order by id or by time. */
      before: eventPlace.optional(),
    }),
  ),
  plot: operation<OutcomePlot>()(z.strictObject({ range: z.enum(eventRanges).default("1h"), filter })),
  /** Devices whose id starts with the text, for a picker. */
  devices: operation<readonly { readonly device_id: string; readonly events: number }[]>()(
    z.strictObject({ prefix: z.string().max(100).default(""), limit: z.int().min(1).max(100).default(20) }),
  ),

  /** The events that match when the export starts, oldest first. */
  /** Cells of a CSV that a spreadsheet would take for a formula begin with an apostrophe, unless `raw` leaves them as they are. */
  export: exportAction({ format: z.enum(eventFormats), filter, raw: z.boolean().default(false) }),
  /** An import is begun, then given its text in pieces of any length in order, then ended. */
  "import.begin": operation<EventJob>()(z.strictObject({ format: z.enum(eventFormats), size: z.int().min(0).optional() })),
  /** Resolves when the piece is stored. Several calls in a row may run at once: they share a transaction. */
  "import.text": operation<EventJob>()(z.strictObject({ job: z.int(), text: z.string().max(512 << 10) })),
  "import.end": operation<EventJob>()(oneJob),
  "job.cancel": operation<EventJob>()(oneJob),
  /** Takes an ended job from the list. */
  "job.remove": operation<null>()(oneJob),

  /** How many events a deletion would delete, for its confirmation. */
  "delete.count": operation<{ readonly matching: number; readonly exact: boolean }>()(z.strictObject({ filter })),
  /** Deletes the events that match now; events that arrive meanwhile stay. */
  "delete.start": operation<EventJob>()(z.strictObject({ filter })),

  /** Stores events of made-up devices, spread over the days up to now. */
  "sample.generate": operation<EventJob>()(
    z.strictObject({ count: z.int().min(1).max(1_000_000).default(2_000), days: z.number().min(0).max(400).default(7) }),
  ),
  /** A real request to the service's own port. */
  try: httpActions.try,
  resend: httpActions.resend,
  ...sampleActions,

  /** Forgets every counted request. */
  "limits.reset": operation<null>()(none),
};
export type EventsActions = typeof eventsActions;
