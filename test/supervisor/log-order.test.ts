import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LogSource } from "../../contract/log.ts";
import { type LogEntry, writeLogs } from "../../servers/core/service/log.ts";
import { createLogOrder } from "../../servers/supervisor/log-order.ts";

const startMs = 1_700_000_000_000;
const entry = (text: string, afterMs: number): LogEntry => ({ at: startMs + afterMs, level: "info", text });

beforeEach(() => {
  vi.useFakeTimers({ now: startMs });
});
afterEach(() => {
  vi.useRealTimers();
});

function collect() {
  const texts: string[] = [];
  const order = createLogOrder((lines) => texts.push(...lines.map((line) => `${line.source} ${line.entry.text}`)));
  const add = (source: LogSource, entries: readonly LogEntry[]) => order.add(source, writeLogs(entries));
  return { order, add, texts };
}

describe("order of log lines", () => {
  it("[BL-276] sorts lines of several processes by time, and those of the same time by arrival", () => {
    const { add, texts } = collect();
    vi.advanceTimersByTime(10);
    add("backlot", [entry("second", 10)]);
    vi.advanceTimersByTime(40);
    add("http", [entry("first", 2), entry("third", 10), entry("fourth", 11)]);
    expect(texts).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(texts).toEqual(["http first", "backlot second", "http third", "http fourth"]);
  });

  it("[BL-276] delays no line by more than 100 ms, and an older one not at all", () => {
    const { add, texts } = collect();
    add("backlot", [entry("own", 0)]);
    vi.advanceTimersByTime(60);
    add("mqtt", [entry("sent", 50)]);
    expect(texts).toEqual([]);
    vi.advanceTimersByTime(40);
    expect(texts).toEqual(["backlot own"]);
    vi.advanceTimersByTime(50);
    expect(texts).toEqual(["backlot own", "mqtt sent"]);
    add("http", [entry("late", 20)]);
    expect(texts).toEqual(["backlot own", "mqtt sent", "http late"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("[BL-276] delays a line no longer when the clock is set back", () => {
    const { add, texts } = collect();
    add("backlot", [entry("before", 3_600_000)]);
    vi.advanceTimersByTime(100);
    expect(texts).toEqual(["backlot before"]);
  });

  it("[BL-276] loses no line at the end", () => {
    const { order, add, texts } = collect();
    add("backlot", [entry("stopped", 0)]);
    add("http", [entry("last request", -5)]);
    order.close();
    expect(texts).toEqual(["http last request", "backlot stopped"]);
    add("backlot", [entry("closed", 0)]);
    expect(texts).toEqual(["http last request", "backlot stopped", "backlot closed"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
