import type { RateDecision, RateLimit, RateLimiter, RateUsage } from "./rate-limit.ts";

export interface MemoryRateLimiterOptions {
  /** Most counted requests over all clients; beyond it the oldest are evicted early. */
  readonly capacity?: number;
  readonly now?: () => number;
}

export interface MemoryRateLimiter extends RateLimiter {
  take(client: string): RateDecision;
  /** Counts a refusal that was decided by another limit. */
  refuse(client: string): void;
}

const standardCapacity = 100_000;
const none = 0;

/**
 * An exact sliding window in fixed memory: every counted request is kept once in one ring in the order of time, and the
 * requests of a client are linked through it. A request costs the same whatever the number of clients.
 */
export function createMemoryRateLimiter(limit: RateLimit, options: MemoryRateLimiterOptions = {}): MemoryRateLimiter {
  const { now = () => performance.now() } = options;
  // Fewer than the limit could never reach it.
  const capacity = Math.max(options.capacity ?? standardCapacity, limit.requests);
  // Positions and slots are stored plus one, so that 0 is "none".
  const takenAt = new Float64Array(capacity);
  const slotAt = new Uint32Array(capacity);
  const nextOfClient = new Uint32Array(capacity);
  let head = 0;
  let size = 0;

  const slots = new Map<string, number>();
  const clientOf: (string | undefined)[] = [];
  const used = new Uint32Array(capacity);
  const refusedOf = new Uint32Array(capacity);
  const firstOf = new Uint32Array(capacity);
  const lastOf = new Uint32Array(capacity);
  const freeSlots: number[] = [];
  let refused = 0;

  function forgetOldest(): void {
    const slot = slotAt[head] as number;
    firstOf[slot] = nextOfClient[head] as number;
    used[slot] = (used[slot] as number) - 1;
    if (used[slot] === 0) release(slot);
    head = head + 1 === capacity ? 0 : head + 1;
    size -= 1;
  }

  function release(slot: number): void {
    slots.delete(clientOf[slot] as string);
    clientOf[slot] = undefined;
    refusedOf[slot] = 0;
    freeSlots.push(slot);
  }

  function expire(at: number): void {
    const end = at - limit.windowMs;
    while (size > 0 && (takenAt[head] as number) <= end) forgetOldest();
  }

  function slotFor(client: string): number {
    const known = slots.get(client);
    if (known !== undefined) return known;
    const slot = freeSlots.pop() ?? clientOf.length;
    clientOf[slot] = client;
    slots.set(client, slot);
    firstOf[slot] = none;
    return slot;
  }

  function append(slot: number, at: number): void {
    const position = (head + size) % capacity;
    takenAt[position] = at;
    slotAt[position] = slot;
    nextOfClient[position] = none;
    if (firstOf[slot] === none) firstOf[slot] = position + 1;
    else nextOfClient[(lastOf[slot] as number) - 1] = position + 1;
    lastOf[slot] = position + 1;
    used[slot] = (used[slot] as number) + 1;
    size += 1;
  }

  function take(client: string): RateDecision {
    const at = now();
    expire(at);
    const known = slots.get(client);
    if (known !== undefined && (used[known] as number) >= limit.requests) {
      refusedOf[known] = (refusedOf[known] as number) + 1;
      refused += 1;
      return { allowed: false, remaining: 0, resetMs: resetMs(known, at) };
    }
    if (size === capacity) forgetOldest();
    const slot = slotFor(client);
    append(slot, at);
    return { allowed: true, remaining: limit.requests - (used[slot] as number), resetMs: resetMs(slot, at) };
  }

  // In the other order, rounding could exceed the window by a fraction.
  const resetMs = (slot: number, at: number) => limit.windowMs - (at - (takenAt[(firstOf[slot] as number) - 1] as number));

  return {
    limit,
    take,
    refuse(client) {
      refused += 1;
      const slot = slots.get(client);
      if (slot !== undefined) refusedOf[slot] = (refusedOf[slot] as number) + 1;
    },
    usage(): RateUsage {
      expire(now());
      let busiest = -1;
      for (let slot = 0; slot < clientOf.length; slot++) {
        if (clientOf[slot] !== undefined && (busiest < 0 || (used[slot] as number) > (used[busiest] as number))) busiest = slot;
      }
      return {
        clients: slots.size,
        refused,
        ...(busiest >= 0 && {
          busiest: { client: clientOf[busiest] as string, used: used[busiest] as number, refused: refusedOf[busiest] as number },
        }),
      };
    },
    reset() {
      while (size > 0) forgetOldest();
    },
  };
}
