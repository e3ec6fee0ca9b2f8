import { setTimeout as sleep } from "node:timers/promises";

type Awaitable<Value> = Value | PromiseLike<Value>;

/** Asks again and again until there is an answer; fails after some seconds. */
export async function until<Value>(ask: () => Awaitable<Value | undefined | false | null>, timeoutMs = 15_000): Promise<Value> {
  const endAt = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false && value !== null) return value;
    if (Date.now() > endAt) throw new Error(`waited ${timeoutMs} ms in vain for: ${ask}`);
    await sleep(10);
  }
}
