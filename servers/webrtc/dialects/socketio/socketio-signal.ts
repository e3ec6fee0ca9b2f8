import type { Signal } from "../../signalling/signalling-event.ts";
import { candidateOf, descriptionOf } from "../session-text.ts";

/** What other dialects understand of the event `signal`: `{ sdp, to? }` or `{ candidate, to? }`. */
export function signalOfSocketIo(data: Readonly<Record<string, unknown>>): Signal {
  const passed = { dialect: "socketio", payload: data } as const;
  const description = descriptionOf(data.sdp) ?? descriptionOf(data);
  if (description) return { ...description, ...passed };
  const candidate = "candidate" in data ? candidateOf(data.candidate) : undefined;
  return candidate === undefined ? { kind: "other", ...passed } : { kind: "candidate", candidate, ...passed };
}

/** Undefined for what has no place in the event. */
export function socketIoSignal({ kind, sdp, candidate }: Signal): Readonly<Record<string, unknown>> | undefined {
  if ((kind === "offer" || kind === "answer") && sdp !== undefined) return { sdp: { type: kind, sdp } };
  return kind === "candidate" && candidate !== undefined ? { candidate } : undefined;
}
