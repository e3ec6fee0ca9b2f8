import type { ServerResponse } from "node:http";
import type { RateDecision, RateLimit } from "./rate-limit.ts";

/** What a page in a browser may read beside the simple fields. */
export const rateLimitHeaderNames = "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After";

/** Tells a client its limit, in the words of the current draft ("RateLimit header fields for HTTP") and in those of its sixth edition. */
export function rateLimitHeaders(limit: RateLimit): (response: ServerResponse, decision: RateDecision) => void {
  const policy = `"${limit.name}";q=${limit.requests};w=${Math.ceil(limit.windowMs / 1_000)}`;
  const requests = String(limit.requests);
  return (response, { allowed, remaining, resetMs }) => {
    const seconds = String(Math.max(1, Math.ceil(resetMs / 1_000)));
    response.setHeader("RateLimit-Policy", policy);
    response.setHeader("RateLimit", `"${limit.name}";r=${remaining};t=${seconds}`);
    response.setHeader("RateLimit-Limit", requests);
    response.setHeader("RateLimit-Remaining", String(remaining));
    response.setHeader("RateLimit-Reset", seconds);
    // RFC 9110 §10.2.3
    if (!allowed) response.setHeader("Retry-After", seconds);
  };
}
