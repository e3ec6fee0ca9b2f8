import type { PageCommand } from "../../../ui/commands.ts";

/** Commands of the whole page, by what they open. */
export const mqttPageCommands = {
  publish: { id: "mqtt-publish", title: "Publish a message…" },
  replies: { id: "mqtt-replies", title: "Auto-reply rules…", keywords: "delay answers" },
  export: { id: "mqtt-export", title: "Export as JSONL…" },
  replay: { id: "mqtt-replay", title: "Replay a file…" },
  retained: { id: "mqtt-retained", title: "Clear retained messages…" },
} as const satisfies Readonly<Record<string, PageCommand>>;
