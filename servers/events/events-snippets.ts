import type { Endpoint, Snippet } from "../../contract/service.ts";

const example = {
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

/** Commands and lines to copy for the address where the service listens. */
export function eventsSnippets(endpoints: readonly Endpoint[]): readonly Snippet[] {
  const url = endpoints[0]?.url ?? "http://127.0.0.1:8082";
  const base = url.replace(/\/events$/, "");
  const json = JSON.stringify(example);
  return [
    {
      label: "curl, POST an event",
      language: "shell",
      text: `curl -i ${base}/events -H 'Content-Type: application/json' -H 'X-Plugin-Version: 0.5.0' -d '${json}'`,
    },
    { label: "curl, newest events", language: "shell", text: `curl '${base}/events?limit=10&outcome=accepted'` },
    { label: "curl, statistics", language: "shell", text: `curl ${base}/stats` },
    {
      label: "JavaScript, all events by cursor",
      language: "javascript",
      text: `let after = "";\nfor (;;) {\n  const response = await fetch(\`${base}/events?limit=1000\${after}\`);\n  const { data } = await response.json();\n  if (data.length === 0) break;\n  for (const event of data) console.log(event.id, event.outcome);\n  after = \`&after=\${data.at(-1).id}\`;\n}`,
    },
    {
      label: "Python",
      language: "python",
      text: `import json, urllib.request\n\nwith urllib.request.urlopen("${base}/stats") as answer:\n    print(json.load(answer))`,
    },
  ];
}
