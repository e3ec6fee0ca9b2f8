import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { createMemoryRateLimiter } from "../../core/limits/rate-limit-memory.ts";
import type { TurnClient } from "./allocation.ts";

const windowMs = 1_000;
/** In a window, over all addresses; the oldest are forgotten. */
const mostCounted = 20_000;
const loopback = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Bounds the errors that go to an address which has not shown that it is the client's: the source of a datagram may be anybody's, and a challenge
 * is larger than its request. Clients repeat a request that gets no answer (RFC 8489 §6.2.1). An address of this computer comes from no other.
 */
export function createUnprovenAnswers(perSecond: number, now: () => number): (client: TurnClient) => boolean {
  const limiter = createMemoryRateLimiter({ name: "unproven", requests: perSecond, windowMs }, { now, capacity: mostCounted });
  return ({ transport, address }) => transport !== "udp" || loopback.test(address) || limiter.take(rateLimitKey(address)).allowed;
}
