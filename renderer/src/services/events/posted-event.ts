import type { EventRow } from "../../../../contract/services/events.ts";
import type { Replay } from "../../inspectors/http/copy-as.ts";

/** Fields that the service adds to an event. */
const added: ReadonlySet<string> = new Set(["id", "created_at", "ip_hash", "plugin_version"] satisfies (keyof EventRow)[]);
const booleans: ReadonlySet<string> = new Set([
  "after_cursor_ws",
  "manually_triggered",
  "is_prefetched",
  "has_diagnostics",
] satisfies (keyof EventRow)[]);

/** A stored event as a client would have sent it: booleans and a list again, without what the service added. */
export function postedEvent(row: EventRow): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (added.has(name)) return [];
      if (booleans.has(name)) return [[name, value === 1]];
      return [[name, name === "recent_actions" ? listOf(value) : value]];
    }),
  );
}

function listOf(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
}

/** The request that would store this event again. */
export const replayOfEvent = (row: EventRow, origin: string): Replay => ({
  method: "POST",
  origin,
  target: "/events",
  headers: [
    ["Content-Type", "application/json"],
    ["X-Plugin-Version", row.plugin_version],
  ],
  body: new TextEncoder().encode(JSON.stringify(postedEvent(row))),
});
