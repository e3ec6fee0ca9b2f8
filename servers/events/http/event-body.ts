import { type CompletionEvent, completionEvent } from "../completion-event.ts";
import { Refusal, validationFailed } from "./refusal.ts";

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
    throw new Refusal(400, "Malformed JSON in request body");
  }
}
