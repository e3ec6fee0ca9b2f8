import type { CandidateInit } from "../signalling/signalling-event.ts";
import { isObject } from "./json-value.ts";

/** Reads the descriptions and candidates that dialects wrap each in its own way. */

/** A candidate as `RTCIceCandidateInit`, null for the end of candidates; undefined for anything else. */
export function candidateOf(value: unknown): CandidateInit | null | undefined {
  if (value === null || value === "") return null;
  if (!isObject(value) || typeof value.candidate !== "string") return undefined;
  return value as unknown as CandidateInit;
}

export interface Description {
  readonly kind: "offer" | "answer";
  readonly sdp: string;
}

/** A description as `RTCSessionDescriptionInit`; undefined for anything else. */
export function descriptionOf(value: unknown): Description | undefined {
  if (!isObject(value) || typeof value.sdp !== "string") return undefined;
  const { type, sdp } = value;
  return type === "offer" || type === "answer" ? { kind: type, sdp } : undefined;
}

/** RFC 8866 §5.14: whether there is more in it than data channels. */
export const describesMedia = (sdp: string): boolean => /^m=(?:audio|video) /m.test(sdp);
