import { randomUUID } from "node:crypto";
import { samplePluginVersion } from "../../../contract/services/events.ts";
import { type CompletionEvent, eventTime, type NewEvent, newEvent } from "../completion-event.ts";

const languages = [
  { language: "typescript", file_ext: ".ts", acceptance: 0.54, share: 0.32 },
  { language: "python", file_ext: ".py", acceptance: 0.46, share: 0.24 },
  { language: "go", file_ext: ".go", acceptance: 0.49, share: 0.16 },
  { language: "rust", file_ext: ".rs", acceptance: 0.58, share: 0.12 },
  { language: "lua", file_ext: ".lua", acceptance: 0.51, share: 0.08 },
  { language: "cpp", file_ext: ".cc", acceptance: 0.31, share: 0.05 },
  { language: "sql", file_ext: ".sql", acceptance: 0.22, share: 0.03 },
] as const;
const providers = ["remote-a", "remote-b", "local-1.5b"] as const;
const actions = ["IC", "IC", "IC", "DC", "CM", "IS", "DS"] as const;
const scopes = ["function", "function", "class", "top_level", "string", "comment", "other"] as const;
const characters = [".", "(", " ", "e", ")", "=", "{", "é", ""];

export interface SampleSource {
  event(): CompletionEvent;
  /** The event as stored at that time. */
  stored(at: number): NewEvent;
}

/** Plausible events of some made-up devices: a few send most, languages differ in how often a completion is accepted. */
export function createSampleSource(deviceCount = 24, random: () => number = Math.random): SampleSource {
  const devices = Array.from({ length: deviceCount }, () => randomUUID() as string);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const upTo = (most: number) => Math.floor(random() * (most + 1));

  function language() {
    let left = random();
    for (const candidate of languages) {
      left -= candidate.share;
      if (left < 0) return candidate;
    }
    return languages[0];
  }

  function event(): CompletionEvent {
    const { language: name, file_ext, acceptance } = language();
    const decided = random();
    const outcome = decided < acceptance ? "accepted" : decided < acceptance + (1 - acceptance) * 0.6 ? "rejected" : "ignored";
    const prefix = upTo(60);
    const lines = 1 + upTo(5);
    return {
      device_id: devices[Math.floor(random() ** 2 * devices.length)] as string,
      outcome,
      file_ext,
      language: name,
      prefix_length: prefix,
      trimmed_prefix_length: Math.max(0, prefix - upTo(3)),
      line_count: 20 + upTo(900),
      relative_position: Math.round(random() * 1_000) / 1_000,
      after_cursor_ws: random() < 0.7,
      last_char: pick(characters),
      last_nonws_char: pick(characters),
      indentation_level: 2 * upTo(6),
      completion_lines: lines,
      completion_additions: lines,
      completion_deletions: upTo(2),
      completion_source: random() < 0.8 ? "typing" : "idle",
      manually_triggered: random() < 0.05,
      provider: pick(providers),
      stage_index: random() < 0.85 ? 0 : 1 + upTo(2),
      cursor_target_distance: random() < 0.7 ? 0 : upTo(40),
      is_prefetched: random() < 0.2,
      display_duration_ms: 150 + upTo(4_000),
      time_since_last_edit_ms: upTo(5_000),
      typing_speed: Math.round(random() * 90) / 10,
      recent_actions: Array.from({ length: 5 }, () => pick(actions)),
      has_diagnostics: random() < 0.25,
      treesitter_scope: pick(scopes),
      edit_count: upTo(120),
      predicted_edit_ratio: Math.round(random() * 100) / 100,
      completions_since_accept: upTo(9),
    };
  }

  return {
    event,
    stored: (at) => newEvent(event(), { created_at: eventTime(at), ip_hash: "0".repeat(64), plugin_version: samplePluginVersion }),
  };
}
