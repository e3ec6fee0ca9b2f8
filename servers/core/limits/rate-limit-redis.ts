import type { Redis } from "ioredis";
import { refuseOtherDatabases } from "../redis/redis-connections.ts";
import type { Log } from "../service/log.ts";
import type { RateDecision, RateLimit, RateLimiter } from "./rate-limit.ts";
import { createMemoryRateLimiter } from "./rate-limit-memory.ts";

export interface RedisRateLimits {
  limiter(limit: RateLimit): RateLimiter;
  close(): Promise<void>;
}

/**
 * Times of the counted requests, oldest first, in a list per client that expires with its newest. Redis' own clock is used,
 * so that the clocks of instances may differ; the script is atomic, so that two instances never both take the last place.
 */
const takeScript = `
local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local oldest = redis.call('LINDEX', key, 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', key)
  oldest = redis.call('LINDEX', key, 0)
end
local used = redis.call('LLEN', key)
if used >= limit then return {0, 0, tonumber(oldest) + window - now} end
redis.call('RPUSH', key, string.format('%.0f', now))
redis.call('PEXPIRE', key, window)
return {1, limit - used - 1, (oldest and tonumber(oldest) or now) + window - now}
`;

const connectTimeoutMs = 2_000;
/** While Redis is unreachable, no request waits for it: it is probed in the background. */
const askAgainMs = 1_000;

interface RedisRateLimitOptions {
  readonly url: string;
  readonly log: Log;
  readonly answerTimeoutMs?: number;
}

/** Limits that several instances share. While Redis does not answer, each instance limits by itself. */
export async function connectRedisRateLimits(options: RedisRateLimitOptions): Promise<RedisRateLimits> {
  const { url, log, answerTimeoutMs = 500 } = options;
  const { Redis: Client } = await import("ioredis");
  const redis: Redis = new Client(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  });
  refuseOtherDatabases(redis);
  const answered = <T>(command: Promise<T>) => inTime(command, answerTimeoutMs);
  let reachable = true;
  let closed = false;
  let asking: NodeJS.Timeout | undefined;
  function setReachable(now: boolean, reason = ""): void {
    if (now === reachable || closed) return;
    reachable = now;
    clearInterval(asking);
    if (!now)
      asking = setInterval(
        () =>
          answered(redis.ping()).then(
            () => setReachable(true),
            () => {},
          ),
        askAgainMs,
      );
    if (now) log.notable("Redis answers again: rate limits are shared");
    else log.warning(`Redis does not answer${reason && ` (${reason})`}: this instance limits by itself meanwhile`);
  }
  redis.on("error", (error: Error) => setReachable(false, error.message));
  redis.on("ready", () => setReachable(true));
  await redis.connect().catch(() => {});

  async function deleteKeys(pattern: string): Promise<void> {
    let cursor = "0";
    do {
      const [next, keys] = await answered(redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000));
      if (keys.length > 0) await answered(redis.del(...keys));
      cursor = next;
    } while (cursor !== "0");
  }

  function limiter(limit: RateLimit): RateLimiter {
    const own = createMemoryRateLimiter(limit);
    const prefix = `backlot:rate:${limit.name}:`;
    async function takeShared(client: string): Promise<RateDecision> {
      const local = own.take(client);
      if (!reachable) return local;
      let answer: [number, number, number];
      try {
        answer = (await answered(redis.eval(takeScript, 1, prefix + client, limit.requests, limit.windowMs))) as [number, number, number];
      } catch (error) {
        setReachable(false, (error as Error).message);
        return local;
      }
      const [allowed, remaining, resetMs] = answer;
      if (allowed === 0 && local.allowed) own.refuse(client);
      return { allowed: allowed === 1, remaining, resetMs };
    }
    return {
      limit,
      take: takeShared,
      usage: own.usage,
      async reset() {
        own.reset();
        await deleteKeys(`${prefix}*`).catch(() => {});
      },
    };
  }

  return {
    limiter,
    async close() {
      closed = true;
      clearInterval(asking);
      redis.disconnect();
    },
  };
}

/** An answer that has arrived while this process was busy is read first: it is not Redis that was late. */
function inTime<T>(command: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = () => reject(new Error("Command timed out"));
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    command.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
