import type { EventPage, EventPlace, EventRow } from "../../contract/services/events.ts";

export const eventRow = (id: number, change: Partial<EventRow> = {}): EventRow => ({
  id,
  created_at: "2026-11-20T23:28:12Z",
  ip_hash: "ab".repeat(32),
  plugin_version: "0.5.0",
  device_id: "0b6f3c1e-5d0a-4a53-9a0e-1f6c2a7d9b10",
  outcome: "accepted",
  file_ext: ".ts",
  language: "typescript",
  prefix_length: 15,
  trimmed_prefix_length: 13,
  line_count: 1_210,
  relative_position: 0.143,
  after_cursor_ws: 1,
  last_char: " ",
  last_nonws_char: "é",
  indentation_level: 4,
  completion_lines: 3,
  completion_additions: 3,
  completion_deletions: 0,
  completion_source: "typing",
  manually_triggered: 0,
  provider: "remote-a",
  stage_index: 0,
  cursor_target_distance: 0,
  is_prefetched: 0,
  display_duration_ms: 1_200,
  time_since_last_edit_ms: 800,
  typing_speed: 4.2,
  recent_actions: '["IC","DC"]',
  has_diagnostics: 0,
  treesitter_scope: "function",
  edit_count: 18,
  predicted_edit_ratio: 0.33,
  completions_since_accept: 2,
  ...change,
});

/** The place of a row of `eventRow`, which all have one time. */
export const placeOf = (id: number): EventPlace => ({ at: "2026-11-20T23:28:12Z", id });

/** Rows with the ids from `newest` down to `oldest`, newest first. */
export const rowsBetween = (newest: number, oldest: number): EventRow[] =>
  Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => eventRow(newest - index));

export const pageOf = (rows: readonly EventRow[], change: Partial<EventPage> = {}): EventPage => ({
  rows,
  matching: rows.length,
  exact: true,
  more: false,
  reached: placeOf(rows.at(-1)?.id ?? 0),
  ...change,
});
