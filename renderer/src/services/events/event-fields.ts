import type { EventColumn, EventRow } from "../../../../contract/services/events.ts";
import { formatCount } from "../../ui/texts/quantity.ts";
import { dateTime, formatTook } from "../../ui/texts/time.ts";

/** As `dateTime`; unchanged if it is not a time. */
export function eventTimeText(created: string, now: number): string {
  const at = Date.parse(created);
  return Number.isNaN(at) ? created : dateTime(at, now);
}

export interface EventField {
  readonly name: EventColumn;
  /** Formatted; the name of the field is beside it. */
  readonly value: string;
  /** As it is stored, if that is different. */
  readonly stored: string;
}

/** Every field once, in groups that belong together. */
export const fieldGroups: readonly { readonly title: string; readonly names: readonly EventColumn[] }[] = [
  { title: "Event", names: ["outcome", "device_id", "created_at", "plugin_version", "ip_hash", "id"] },
  {
    title: "Completion",
    names: [
      "provider",
      "completion_source",
      "display_duration_ms",
      "completion_lines",
      "completion_additions",
      "completion_deletions",
      "predicted_edit_ratio",
      "stage_index",
      "cursor_target_distance",
      "is_prefetched",
      "manually_triggered",
      "completions_since_accept",
    ],
  },
  {
    title: "Place",
    names: [
      "language",
      "file_ext",
      "treesitter_scope",
      "line_count",
      "relative_position",
      "indentation_level",
      "prefix_length",
      "trimmed_prefix_length",
      "last_char",
      "last_nonws_char",
      "after_cursor_ws",
      "has_diagnostics",
    ],
  },
  { title: "Typing", names: ["recent_actions", "typing_speed", "time_since_last_edit_ms", "edit_count"] },
];

const yesOrNo: ReadonlySet<EventColumn> = new Set(["after_cursor_ws", "manually_triggered", "is_prefetched", "has_diagnostics"]);

export function eventField(row: EventRow, name: EventColumn, now: number): EventField {
  const stored = String(row[name]);
  return { name, stored, value: shown(row, name, now) };
}

function shown(row: EventRow, name: EventColumn, now: number): string {
  const value = row[name];
  if (yesOrNo.has(name)) return value ? "yes" : "no";
  if (name === "created_at") return eventTimeText(row.created_at, now);
  if (name === "relative_position") return `${Math.round(row.relative_position * 1_000) / 10} %`;
  if (name === "typing_speed") return `${row.typing_speed} characters/s`;
  if (name === "recent_actions") return row.recent_actions.replace(/[[\]"]/g, "").replaceAll(",", " ") || "none";
  if (name.endsWith("_ms")) return Number(value) < 1_000 ? `${value} ms` : formatTook(Number(value));
  if (name === "last_char" || name === "last_nonws_char") return character(String(value));
  if (value === "") return "none";
  if (typeof value === "number") return Number.isInteger(value) ? formatCount(value) : String(value);
  return value;
}

function character(text: string): string {
  if (text === "") return "none";
  if (text.trim() !== "") return text;
  return text === "\t" ? "tab" : "space";
}
