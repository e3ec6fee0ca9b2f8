import { queryFieldsOf } from "../../core/http/messages/form-fields.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { type CompletionEvent, completionEvent } from "../completion-event.ts";
import type { KeyFilter } from "../store/event-store.ts";

/** Its message is the reason that the page shows, too. */
export const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpRefusal =>
  new HttpRefusal(status, message, { headers, reason: message });

interface Issue {
  /** "recent_actions.0"; empty for the whole body. */
  readonly path: string;
  readonly message: string;
}

const validationFailed = (issues: readonly Issue[]): HttpRefusal =>
  new HttpRefusal(400, "Validation failed", { body: JSON.stringify({ error: "Validation failed", issues }), reason: reasonOf(issues) });

/** "device_id: Invalid UUID, and 2 more" */
function reasonOf(issues: readonly Issue[]): string {
  const [first, ...others] = issues;
  const text = first ? `${first.path === "" ? "" : `${first.path}: `}${first.message}` : "";
  return others.length > 0 ? `${text}, and ${others.length} more` : text;
}

/** The event in a body, whatever its Content-Type says. Throws 400. */
export function parseEvent(body: Buffer): CompletionEvent {
  const parsed = completionEvent.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  throw validationFailed(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
}

function parseJson(body: Buffer): unknown {
  let text = body.toString("utf8");
  // RFC 8259 §8.1: a byte order mark may be ignored.
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(400, "Malformed JSON in request body");
  }
}

const defaultLimit = 100;
const largestLimit = 1_000;

export interface EventsQuery {
  readonly filter: KeyFilter;
  readonly limit: number;
  readonly offset: number;
  /** Keyset cursor: only events with a smaller id. */
  readonly after: number | undefined;
}

/** The query of GET /events; the first of equal names counts. Throws 400 that names the value that is not an integer. */
export function parseEventsQuery(target: string): EventsQuery {
  const fields = queryFieldsOf(target);
  const issues: Issue[] = [];
  function wholeNumber(name: string): number | undefined {
    const text = fields.get(name);
    if (text === null) return undefined;
    // Larger offsets give the same empty page.
    if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
    issues.push({ path: name, message: `${name} must be a whole number of 0 or more` });
    return undefined;
  }
  const limit = wholeNumber("limit");
  const offset = wholeNumber("offset");
  const after = wholeNumber("after");
  if (issues.length > 0) throw validationFailed(issues);
  return {
    filter: { device_id: fields.get("device_id") || undefined, outcome: fields.get("outcome") || undefined },
    limit: Math.min(limit ?? defaultLimit, largestLimit),
    offset: offset ?? 0,
    after,
  };
}

/** Where the next page begins, for the Link field (RFC 8288). */
export function nextPageLink({ filter, limit }: EventsQuery, lastId: number): string {
  const fields = new URLSearchParams({ after: String(lastId), limit: String(limit) });
  if (filter.device_id) fields.set("device_id", filter.device_id);
  if (filter.outcome) fields.set("outcome", filter.outcome);
  return `</events?${fields}>; rel="next"`;
}
