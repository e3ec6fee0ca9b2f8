import { rateLimitKey } from "../../../core/limits/rate-limit-client.ts";
import { MediaProblem, retryAfter } from "./media-problem.ts";
import type { MediaSession } from "./media-session.ts";

/**
 * The session that gives way to one more of `address` where all places are taken: of the address that has most, one that is not connected, else the newest.
 * Undefined where that address would not have more than this one then.
 */
export function sessionGivingWay<Session extends Pick<MediaSession, "client" | "state">>(
  sessions: readonly Session[],
  address: string,
): Session | undefined {
  const ofKeys = Map.groupBy(sessions, ({ client }) => rateLimitKey(client.address));
  const own = ofKeys.get(rateLimitKey(address))?.length ?? 0;
  let most: readonly Session[] = [];
  for (const ofKey of ofKeys.values()) if (ofKey.length > most.length) most = ofKey;
  if (most.length <= own + 1) return undefined;
  return most.find(({ state }) => state !== "connected") ?? most.at(-1);
}

/** All places are taken, and nobody gives way. */
export function tooMany(what: "players" | "publishers", most: number): never {
  throw new MediaProblem(503, `The limit of ${what} is reached, which is ${most}. Raise it in Config.`, retryAfter);
}
