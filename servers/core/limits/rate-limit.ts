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
  /** With a request in the window. */
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
