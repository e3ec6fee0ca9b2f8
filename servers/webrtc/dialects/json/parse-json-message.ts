import { isDeeper } from "../../../core/limits/json-limits.ts";
import type { CandidateInit, Refusal } from "../../signalling/signalling-event.ts";
import { isObject, isOptionalText, isText, jsonOf } from "../json-value.ts";

/** A message of a client. */
export type JsonMessage =
  | { readonly type: "join"; readonly room: string; readonly name?: string | undefined; readonly password?: string | undefined }
  | { readonly type: "leave"; readonly room: string }
  | { readonly type: "offer" | "answer"; readonly to: string; readonly sdp: string | { readonly sdp: string } }
  | { readonly type: "candidate"; readonly to: string; readonly candidate: CandidateInit | string | null }
  | { readonly type: "chat"; readonly room?: string | undefined; readonly to?: string | undefined; readonly text: string };

/** With the type of the message, where it has one. */
export type JsonRefusal = Refusal & { readonly re?: string | undefined };

const types = new Set(["join", "leave", "offer", "answer", "candidate", "chat"]);
const longestType = 40;

export function parseJsonMessage(text: string, mostDepth: number): JsonMessage | JsonRefusal {
  const value = jsonOf(text);
  if (value === undefined) return { code: "bad-message", message: "The message is not JSON" };
  if (!isObject(value)) return { code: "bad-message", message: "The message is not an object" };
  const { type } = value;
  if (typeof type !== "string") return { code: "bad-message", message: "The message has no type" };
  const re = type.slice(0, longestType);
  if (!types.has(type)) return { code: "unknown-type", message: `There is no message of type ${JSON.stringify(re)}`, re };
  if (isDeeper(value, mostDepth)) return { code: "bad-message", message: `The message is deeper than ${mostDepth} levels`, re };
  const wrong = (what: string): JsonRefusal => ({ code: "bad-message", message: `${type} needs ${what}`, re });
  switch (type) {
    case "join": {
      const { room, name, password } = value;
      if (!isText(room)) return wrong("room, a text that is not empty");
      if (!isOptionalText(name) || !isOptionalText(password)) return wrong("name and password as texts, where it has them");
      return { type, room, name: name ?? undefined, password: password || undefined };
    }
    case "leave": {
      const { room } = value;
      return isText(room) ? { type, room } : wrong("room, a text that is not empty");
    }
    case "offer":
    case "answer": {
      const { to, sdp } = value;
      if (!isText(to)) return wrong("to, the identifier of a peer");
      if (isText(sdp)) return { type, to, sdp };
      return isObject(sdp) && isText(sdp.sdp)
        ? { type, to, sdp: { ...sdp, sdp: sdp.sdp } }
        : wrong("sdp, a text or a description with sdp");
    }
    case "candidate": {
      const { to, candidate } = value;
      if (!isText(to)) return wrong("to, the identifier of a peer");
      if (candidate === null || typeof candidate === "string") return { type, to, candidate };
      if (!isObject(candidate) || typeof candidate.candidate !== "string")
        return wrong("candidate, an object with candidate, a text or null");
      return { type, to, candidate: candidate as unknown as CandidateInit };
    }
    case "chat": {
      const { room, to, text: said } = value;
      if (!isText(said)) return wrong("text, which is not empty");
      if (isText(to) && room === undefined) return { type, to, text: said };
      if (isText(room) && to === undefined) return { type, room, text: said };
      return wrong("either room or to");
    }
    default:
      throw new Error(`${type} is listed and not read`);
  }
}
