import type { ServerResponse } from "node:http";

/** How often one client may do one thing. */
export interface RateLimit {
  /** As the RateLimit header fields name it: lower case and hyphens. */
  readonly name: string;
  readonly requests: number;
  readonly windowMs: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests that the client may still make at once. */
  readonly remaining: number;
  /** Until its oldest counted request leaves the window. */
  readonly resetMs: number;
}

export interface RateUsage {
  /** Clients with a request in the window. */
  readonly clients: number;
  /** Since the start. */
  readonly refused: number;
  readonly busiest?: { readonly client: string; readonly used: number; readonly refused: number };
}

/** One limit over all its clients. A refused request does not count. */
export interface RateLimiter {
  readonly limit: RateLimit;
  take(client: string): RateDecision | Promise<RateDecision>;
  usage(): RateUsage;
  reset(): void | Promise<void>;
}

/** Response fields that CORS has to expose to pages. */
export const rateLimitHeaderNames = "RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After";

/** Header fields that report the limit, in the syntax of the current draft ("RateLimit header fields for HTTP") and of its sixth version. */
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
