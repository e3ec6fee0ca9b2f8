import { z } from "zod";
import { type TryRequest, tryRequestSchema, withoutCredentials } from "../try/try-request.ts";

export interface Tried {
  readonly at: number;
  readonly request: TryRequest;
  /** Absent if no response was received. */
  readonly status?: number;
  readonly tookMs?: number;
}

export const triesSchema: z.ZodType<readonly Tried[]> = z.array(
  z.object({ at: z.number(), request: tryRequestSchema, status: z.number().exactOptional(), tookMs: z.number().exactOptional() }),
);

export const triesWithoutCredentials = (tries: readonly Tried[]): readonly Tried[] =>
  tries.map((tried) => ({ ...tried, request: withoutCredentials(tried.request) }));

export const keptTries = 20;
/** A larger body is not stored: the browser's storage is limited to a few megabytes. */
const keptBodyCharacters = 16_384;

/** Newest first; a repeated request replaces the earlier one. */
export function withTry(history: readonly Tried[], tried: Tried): readonly Tried[] {
  const { base64: _, ...request } = tried.request;
  const body = request.body.length > keptBodyCharacters ? "" : request.body;
  const kept = { ...tried, request: { ...request, body } };
  const same = JSON.stringify(kept.request);
  return [kept, ...history.filter((other) => JSON.stringify(other.request) !== same)].slice(0, keptTries);
}
