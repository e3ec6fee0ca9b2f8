import { expect, it, vi } from "vitest";
import { createRefresher } from "../../renderer/src/control/refresher.ts";

/** A read that ends when told to. */
function heldReads() {
  const waiting: (() => void)[] = [];
  const read = () => new Promise<void>((resolve) => waiting.push(resolve));
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  return { waiting, read, settle };
}

it("[MQTT-276] a refresh requested during a read follows it once, however often it was requested", async () => {
  const { waiting, read, settle } = heldReads();
  const refresh = createRefresher({ read });
  void refresh();
  const done = [refresh(), refresh(), refresh()];
  expect(waiting.length).toBe(1);
  waiting[0]?.();
  await settle();
  expect(waiting.length).toBe(2);
  waiting[1]?.();
  await Promise.all(done);
  expect(waiting.length).toBe(2);
});

it("[MQTT-276] a slow source is read less often, and the last change is read after the pause", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    const reads: number[] = [];
    const refresh = createRefresher({
      read: async () => {
        reads.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, 100));
      },
      restFactor: 6,
    });
    const from = performance.now();
    void refresh();
    await vi.advanceTimersByTimeAsync(150);
    void refresh();
    await vi.advanceTimersByTimeAsync(500);
    expect(reads.length).toBe(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(reads.map((at) => at - from)).toEqual([0, 700]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reads.length).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
