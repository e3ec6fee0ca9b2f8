import type { PageCommand } from "../../ui/commands.ts";

/** Commands on all events, by what they do. */
export const eventsPageCommands = {
  csv: { id: "events-csv", title: "Export as CSV" },
  jsonl: { id: "events-jsonl", title: "Export as JSONL" },
  import: { id: "events-import", title: "Import CSV or JSONL…" },
  generate: { id: "events-generate", title: "Generate sample events…" },
} as const satisfies Readonly<Record<string, PageCommand>>;
