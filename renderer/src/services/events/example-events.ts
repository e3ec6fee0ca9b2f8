import type { EventOutcome } from "../../../../contract/services/events.ts";
import { exampleEvent } from "../../../../contract/services/example-event.ts";

const of = (outcome: EventOutcome, change: Partial<typeof exampleEvent>) => ({ ...exampleEvent, ...change, outcome });

/** One of each kind that clients send, and one that is refused. */
export const exampleEvents = {
  accepted: exampleEvent,
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
  "refused: 400": { ...exampleEvent, device_id: "not-a-uuid", line_count: 0, recent_actions: ["XX"] },
} as const;
export type ExampleName = keyof typeof exampleEvents;
export const exampleNames = Object.keys(exampleEvents) as ExampleName[];

export const exampleText = (name: ExampleName): string => JSON.stringify(exampleEvents[name], null, 2);
/** On one line, for a shell. */
export const exampleCommand = (origin: string): string =>
  `curl -i ${origin}/events -H 'Content-Type: application/json' -d '${JSON.stringify(exampleEvent)}'`;
