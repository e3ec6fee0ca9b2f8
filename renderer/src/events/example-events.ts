import type { EventOutcome } from "../../../contract/events.ts";

/** One of each kind that a client would send, and one that is refused. */
const accepted = {
  device_id: "0b6f3c1e-5d0a-4a53-9a0e-1f6c2a7d9b10",
  outcome: "accepted",
  file_ext: ".ts",
  language: "typescript",
  prefix_length: 15,
  trimmed_prefix_length: 13,
  line_count: 210,
  relative_position: 0.14,
  after_cursor_ws: false,
  last_char: ")",
  last_nonws_char: ")",
  indentation_level: 4,
  completion_lines: 3,
  completion_additions: 3,
  completion_deletions: 0,
  completion_source: "typing",
  manually_triggered: false,
  provider: "remote-a",
  stage_index: 0,
  cursor_target_distance: 0,
  is_prefetched: false,
  display_duration_ms: 1200,
  time_since_last_edit_ms: 800,
  typing_speed: 4.2,
  recent_actions: ["IC", "IC", "DC"],
  has_diagnostics: false,
  treesitter_scope: "function",
  edit_count: 18,
  predicted_edit_ratio: 0.33,
  completions_since_accept: 2,
};

const of = (outcome: EventOutcome, change: Partial<typeof accepted>) => ({ ...accepted, ...change, outcome });

export const exampleEvents = {
  accepted,
  rejected: of("rejected", {
    file_ext: ".py",
    language: "python",
    provider: "remote-b",
    display_duration_ms: 2400,
    treesitter_scope: "class",
    completions_since_accept: 3,
  }),
  ignored: of("ignored", {
    file_ext: ".rs",
    language: "rust",
    provider: "local-1.5b",
    completion_source: "idle",
    display_duration_ms: 5200,
    treesitter_scope: "top_level",
    recent_actions: [],
    completions_since_accept: 4,
  }),
  "refused: 400": { ...accepted, device_id: "not-a-uuid", line_count: 0, recent_actions: ["XX"] },
} as const;
export type ExampleName = keyof typeof exampleEvents;
export const exampleNames = Object.keys(exampleEvents) as ExampleName[];

export const exampleText = (name: ExampleName): string => JSON.stringify(exampleEvents[name], null, 2);
/** On one line, for a shell. */
export const exampleCommand = (origin: string): string =>
  `curl -i ${origin}/events -H 'Content-Type: application/json' -d '${JSON.stringify(accepted)}'`;
