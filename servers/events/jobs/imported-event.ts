import { neededText } from "../../core/config/issue-text.ts";
import { columnKind, completionEvent, eventTime, type NewEvent, newEvent, newEventColumns } from "../completion-event.ts";

/** A line that cannot become an event, and why. */
export class RefusedEvent extends Error {
  override readonly name = "RefusedEvent";
}

/** Longest header field that the service accepts over HTTP. */
const longestVersion = 16_384;
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Checks the calendar too: `Date.parse` accepts the 31st of February as a day of March. */
function isTime(text: string): boolean {
  if (!timePattern.test(text)) return false;
  const at = Date.parse(text);
  return !Number.isNaN(at) && eventTime(at).slice(0, 19) === text.slice(0, 19);
}

/**
 * An event from a line of an export, or as a client would send it: 0, 1, true and false are booleans, `recent_actions` is a list
 * or its JSON, numbers may be text. The event gets a new id. Throws RefusedEvent.
 */
export function importedEvent(source: Readonly<Record<string, unknown>>, received: string): NewEvent {
  const candidate: Record<string, unknown> = {};
  for (const column of newEventColumns) {
    if (!Object.hasOwn(source, column)) continue;
    candidate[column] = unpacked(source[column], columnKind(column));
  }
  const { created_at = received, ip_hash = "", plugin_version = "unknown" } = candidate;
  if (typeof created_at !== "string" || !isTime(created_at)) throw new RefusedEvent(`created_at is not a time like ${received}`);
  if (typeof ip_hash !== "string" || !/^(?:[0-9a-f]{64})?$/.test(ip_hash)) throw new RefusedEvent("ip_hash is not a SHA-256 in hex");
  if (typeof plugin_version !== "string" || plugin_version.length > longestVersion)
    throw new RefusedEvent(`plugin_version is not a text of up to ${longestVersion} characters`);
  const parsed = completionEvent.safeParse(candidate);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RefusedEvent(`${issue?.path.join(".") || "event"}: ${neededText(issue)}`);
  }
  return newEvent(parsed.data, { created_at: `${created_at.slice(0, 19)}Z`, ip_hash, plugin_version });
}

function unpacked(value: unknown, kind: ReturnType<typeof columnKind>): unknown {
  switch (kind) {
    case "text":
      return value;
    case "integer":
    case "real":
      return typeof value === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value) ? Number(value) : value;
    case "boolean":
      if (value === 1 || value === "1" || value === "true") return true;
      return value === 0 || value === "0" || value === "false" ? false : value;
    case "list":
      try {
        return typeof value === "string" ? JSON.parse(value) : value;
      } catch {
        return value;
      }
    default:
      return kind satisfies never;
  }
}
