import { setTimeout as sleep } from "node:timers/promises";

type Awaitable<Value> = Value | PromiseLike<Value>;

/** Asks again and again until there is an answer; fails after a minute. */
export async function until<Value>(ask: () => Awaitable<Value | undefined | false | null>, timeoutMs = 60_000): Promise<Value> {
  const endAt = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false && value !== null) return value;
    if (Date.now() > endAt) throw new Error(`waited ${timeoutMs} ms in vain for: ${ask}`);
    await sleep(10);
  }
}

/** Resolves when what it reads has been the same for so long: what was on its way has arrived, and nothing followed. */
export async function unchanged<Value>(read: () => Awaitable<Value>, forMs: number): Promise<Value> {
  let value = await read();
  let since = performance.now();
  await until(async () => {
    const next = await read();
    if (next !== value) [value, since] = [next, performance.now()];
    return performance.now() - since >= forMs;
  });
  return value;
}
