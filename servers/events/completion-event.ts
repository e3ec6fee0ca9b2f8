import { z } from "zod";
import { type EventColumn, type EventRow, eventColumns, eventOutcomes } from "../../contract/services/events.ts";

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);
// Kept like `z.uuid`'s message; its pattern would refuse ids of other versions, which devices in the field have.
const uuid = z.guid({ error: (issue) => (issue.input === undefined || typeof issue.input !== "string" ? undefined : "Invalid UUID") });

/** One event as a client sends it. Unknown keys are dropped: older plugins send some. */
export const completionEvent = z.object({
  device_id: uuid,
  outcome: z.enum(eventOutcomes),
  file_ext: z.string().max(20),
  language: z.string().max(30),
  prefix_length: count,
  trimmed_prefix_length: count,
  line_count: z.int().positive(),
  relative_position: share,
  after_cursor_ws: z.boolean(),
  last_char: z.string().max(1),
  last_nonws_char: z.string().max(1),
  indentation_level: count,
  completion_lines: count,
  completion_additions: count,
  completion_deletions: count,
  completion_source: z.enum(["typing", "idle"]),
  manually_triggered: z.boolean(),
  provider: z.string().max(30),
  stage_index: count,
  cursor_target_distance: count,
  is_prefetched: z.boolean(),
  display_duration_ms: count,
  time_since_last_edit_ms: count,
  typing_speed: z.number().nonnegative(),
  recent_actions: z.array(z.enum(["IC", "IS", "DC", "DS", "CM"])).max(5),
  has_diagnostics: z.boolean(),
  treesitter_scope: z.enum(["function", "class", "top_level", "string", "comment", "other"]),
  edit_count: count,
  predicted_edit_ratio: share,
  completions_since_accept: count,
});
export type CompletionEvent = z.output<typeof completionEvent>;

/** Columns that the service adds to an event. */
export interface Receipt {
  /** "2026-11-20T23:28:12Z" */
  readonly created_at: string;
  readonly ip_hash: string;
  readonly plugin_version: string;
}

/** An event before it has an id. */
export type NewEvent = Omit<EventRow, "id">;

export const newEvent = (event: CompletionEvent, receipt: Receipt): NewEvent => ({
  created_at: receipt.created_at,
  ip_hash: receipt.ip_hash,
  plugin_version: receipt.plugin_version,
  device_id: event.device_id,
  outcome: event.outcome,
  file_ext: wellFormed(event.file_ext),
  language: wellFormed(event.language),
  prefix_length: event.prefix_length,
  trimmed_prefix_length: event.trimmed_prefix_length,
  line_count: event.line_count,
  relative_position: event.relative_position,
  after_cursor_ws: event.after_cursor_ws ? 1 : 0,
  last_char: wellFormed(event.last_char),
  last_nonws_char: wellFormed(event.last_nonws_char),
  indentation_level: event.indentation_level,
  completion_lines: event.completion_lines,
  completion_additions: event.completion_additions,
  completion_deletions: event.completion_deletions,
  completion_source: event.completion_source,
  manually_triggered: event.manually_triggered ? 1 : 0,
  provider: wellFormed(event.provider),
  stage_index: event.stage_index,
  cursor_target_distance: event.cursor_target_distance,
  is_prefetched: event.is_prefetched ? 1 : 0,
  display_duration_ms: event.display_duration_ms,
  time_since_last_edit_ms: event.time_since_last_edit_ms,
  typing_speed: event.typing_speed,
  recent_actions: JSON.stringify(event.recent_actions),
  has_diagnostics: event.has_diagnostics ? 1 : 0,
  treesitter_scope: event.treesitter_scope,
  edit_count: event.edit_count,
  predicted_edit_ratio: event.predicted_edit_ratio,
  completions_since_accept: event.completions_since_accept,
});

// A database cannot store half a surrogate pair; the "last character" of a line can be one.
const wellFormed = (text: string) => (text.isWellFormed() ? text : text.toWellFormed());

export type NewEventColumn = Exclude<EventColumn, "id">;
export const newEventColumns = eventColumns.filter((column): column is NewEventColumn => column !== "id");

export type ColumnKind = "text" | "integer" | "real" | "boolean" | "list";

const texts: readonly NewEventColumn[] = [
  "created_at",
  "ip_hash",
  "plugin_version",
  "device_id",
  "outcome",
  "file_ext",
  "language",
  "last_char",
  "last_nonws_char",
  "completion_source",
  "provider",
  "treesitter_scope",
];
const reals: readonly NewEventColumn[] = ["relative_position", "typing_speed", "predicted_edit_ratio"];
const booleans: readonly NewEventColumn[] = ["after_cursor_ws", "manually_triggered", "is_prefetched", "has_diagnostics"];

/** Type of each column, for the schemas of the databases and for the import. */
export function columnKind(column: NewEventColumn): ColumnKind {
  if (texts.includes(column)) return "text";
  if (reals.includes(column)) return "real";
  if (booleans.includes(column)) return "boolean";
  return column === "recent_actions" ? "list" : "integer";
}

/** "2026-11-20T23:28:12Z" */
export const eventTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
