import type { EventsViews, LimitGauge } from "../../../contract/services/events.ts";
import type { RateLimit, RateLimiter } from "../../core/limits/rate-limit.ts";
import { createMemoryRateLimiter } from "../../core/limits/rate-limit-memory.ts";
import { connectRedisRateLimits } from "../../core/limits/rate-limit-redis.ts";
import type { Log } from "../../core/service/log.ts";
import type { EventsConfig } from "../events-config.ts";
import type { EventsLimiters } from "./event-routes.ts";

export interface EventsLimits {
  /** Undefined if limits are off. */
  readonly limiters: EventsLimiters | undefined;
  reset(): Promise<void>;
  close(): Promise<void>;
}

const gaugeEveryMs = 500;

/** The three limits of the API, each with its own window, and their gauge on the page. */
export async function createEventsLimits(
  config: EventsConfig,
  parts: { readonly log: Log; readonly show: (view: EventsViews["limits"]) => void },
): Promise<EventsLimits> {
  const { log, show } = parts;
  if (!config.rateLimits) {
    show({ on: false, shared: false, gauges: [] });
    return { limiters: undefined, reset: async () => {}, close: async () => {} };
  }
  const redis = config.rateLimitRedis === "" ? undefined : await connectRedisRateLimits({ url: config.rateLimitRedis, log });
  const limiter = (limit: RateLimit): RateLimiter => redis?.limiter(limit) ?? createMemoryRateLimiter(limit);
  const limiters: EventsLimiters = {
    post: limiter({ name: "post-events", requests: config.postRequests, windowMs: config.postSeconds * 1_000 }),
    read: limiter({ name: "get-events", requests: config.readRequests, windowMs: config.readSeconds * 1_000 }),
    stats: limiter({ name: "get-stats", requests: config.statsRequests, windowMs: config.statsSeconds * 1_000 }),
  };
  let shown = "";
  function showGauges(): void {
    const gauges = [gauge("POST /events", limiters.post), gauge("GET /events", limiters.read), gauge("GET /stats", limiters.stats)];
    const text = JSON.stringify(gauges);
    if (text === shown) return;
    shown = text;
    show({ on: true, shared: redis !== undefined, gauges });
  }
  showGauges();
  const timer = setInterval(showGauges, gaugeEveryMs);
  return {
    limiters,
    async reset() {
      await Promise.all(Object.values(limiters).map((one: RateLimiter) => one.reset()));
      showGauges();
    },
    async close() {
      clearInterval(timer);
      await redis?.close();
    },
  };
}

function gauge(name: LimitGauge["name"], limiter: RateLimiter): LimitGauge {
  const { requests, windowMs } = limiter.limit;
  return { name, requests, windowSeconds: windowMs / 1_000, ...limiter.usage() };
}
