import { expect, it, vi } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { createSseHub } from "../../servers/http/sse/sse-hub.ts";
import { workTime } from "../support/work-time.ts";
import { onEnd } from "./harness.ts";

it("[HTTP-52] those that disconnected are listed for a minute, also where the computer's clock is set meanwhile", () => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"] });
  onEnd(() => vi.useRealTimers());
  const shown: number[] = [];
  const { turns } = workTime();
  const hub = createSseHub({
    show: ({ subscribers }) => shown.push(subscribers.length),
    touch: () => {},
    log: createLog({ level: () => "error", write: () => {} }),
    turns,
  });
  onEnd(() => hub.close());
  let leave = () => {};
  const response = {
    req: { socket: { remoteAddress: "10.0.0.1" }, headers: {} },
    writeChunk: () => true,
    end() {},
    flushHeaders() {},
    once: (_name: string, listener: () => void) => (leave = listener),
  };
  hub.subscribe(response as unknown as Parameters<typeof hub.subscribe>[0], {
    firstId: 0,
    intervalMs: 10_000,
    delayMs: 0,
    resumedFrom: undefined,
    endId: Number.POSITIVE_INFINITY,
  });
  leave();
  vi.setSystemTime(Date.now() - 80 * 86_400_000);
  vi.advanceTimersByTime(59_000);
  expect(shown.at(-1)).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(shown.at(-1)).toBe(0);
  expect(shown.length).toBeLessThan(5);
});
