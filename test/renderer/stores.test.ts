import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LogLine } from "../../contract/log.ts";
import { logText } from "../../contract/log.ts";
import type { ControlClient } from "../../renderer/src/control/control-client.ts";
import { appendRate, createDashboardStores, noRecentRate, sparklineSamples } from "../../renderer/src/control/dashboard-stores.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import { createFrameStore, createKeyedStore, createPacedFrame } from "../../renderer/src/control/frame-store.ts";
import { logMatcher } from "../../renderer/src/pages/logs/log-rows.ts";

function createFrames() {
  const runs: (() => void)[] = [];
  return { nextFrame: (run: () => void) => void runs.push(run), paint: () => runs.splice(0).map((run) => run()).length };
}
const line = (seq: number, change: Partial<LogLine> = {}): LogLine => ({
  seq,
  at: seq,
  source: "http",
  level: "info",
  text: `line ${seq}`,
  ...change,
});

describe("a frame store", () => {
  it("notifies once per frame of any number of changes", () => {
    const { nextFrame, paint } = createFrames();
    const store = createFrameStore(0, nextFrame);
    const told: number[] = [];
    store.subscribe(() => told.push(store.get()));
    store.set(1);
    store.set(2);
    expect([store.get(), store.latest()]).toEqual([0, 2]);
    expect(paint()).toBe(1);
    expect(told).toEqual([2]);
  });

  it("does not notify without a change, and after the end", () => {
    const { nextFrame, paint } = createFrames();
    const store = createFrameStore("a", nextFrame);
    let told = 0;
    const end = store.subscribe(() => told++);
    store.set("b");
    store.set("a");
    paint();
    end();
    store.set("c");
    paint();
    expect(told).toBe(0);
  });

  it("by key notifies only of its own key", () => {
    const { nextFrame, paint } = createFrames();
    const store = createKeyedStore<string, number>(() => 0, nextFrame);
    let told = 0;
    store("http").subscribe(() => told++);
    store("grpc").set(1);
    paint();
    expect([told, store("grpc").get()]).toEqual([0, 1]);
    expect(store.all().map((one) => one.get())).toEqual([0, 1]);
  });
});

describe("paced frames", () => {
  function setUp() {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { nextFrame, paint } = createFrames();
    const painted: (() => void)[] = [];
    const pacedFrame = createPacedFrame({ nextFrame, afterPaint: (run) => void painted.push(run), now: () => performance.now() });
    const runs: number[] = [];
    return {
      ask: () => pacedFrame(() => void runs.push(performance.now())),
      /** A frame whose rendering takes this long. */
      frame(ms: number) {
        paint();
        vi.advanceTimersByTime(ms);
        for (const run of painted.splice(0)) run();
      },
      runs,
    };
  }

  it("[BL-284] the first after a pause waits for a frame only", () => {
    const { ask, frame, runs } = setUp();
    ask();
    frame(10);
    vi.advanceTimersByTime(1_000);
    ask();
    frame(10);
    expect(runs).toEqual([0, 1_010]);
  });

  it.each([
    [10, 20],
    [40, 80],
    [1_000, 200],
  ])("[BL-284] after one of %i ms there is a pause of %i ms", (tookMs, restMs) => {
    const { ask, frame, runs } = setUp();
    ask();
    frame(tookMs);
    ask();
    vi.advanceTimersByTime(restMs - 1);
    frame(0);
    expect(runs).toEqual([0]);
    vi.advanceTimersByTime(1);
    frame(0);
    expect(runs).toEqual([0, tookMs + restMs]);
  });

  it("[BL-284] one that was asked for before a pause began is not lost", () => {
    const { ask, frame, runs } = setUp();
    ask();
    ask();
    frame(10);
    expect(runs).toEqual([0, 0]);
  });
});

describe("log filters and files", () => {
  it("match by source, level and above, and text in any case", () => {
    const error = line(1, { level: "error", text: "EADDRINUSE 8080" });
    expect(logMatcher({ level: "warning", text: " eaddr" })(error)).toBe(true);
    expect(logMatcher({ level: "debug", text: "", source: "grpc" })(error)).toBe(false);
    expect(logMatcher({ level: "warning", text: "" })(line(2))).toBe(false);
  });

  it("are one line each, in order", () => {
    expect([line(0), line(1, { level: "warning", source: "backlot" })].map(logText).join("")).toBe(
      "1970-01-01T00:00:00.000Z info    http    line 0\n1970-01-01T00:00:00.001Z warning backlot line 1\n",
    );
  });
});

describe("the recent rate", () => {
  it("keeps as many samples as a sparkline shows", () => {
    let recent = noRecentRate;
    for (let index = 0; index < sparklineSamples + 5; index++) recent = appendRate(recent, index);
    expect([recent.itemsPerSecond.length, recent.itemsPerSecond.at(-1)]).toEqual([sparklineSamples, sparklineSamples + 4]);
  });
});

describe("the first reads of the dashboard", () => {
  const failure = { code: "INTERNAL", message: "out of order", hint: "" };
  const http = { id: "http", status: { state: "stopped" } };

  /** A client whose calls fail until `works` says otherwise. */
  function setUp() {
    const works = { failure: failure as { code: string } | undefined, calls: 0 };
    let opened = () => {};
    const client = {
      async call(name: string) {
        works.calls++;
        if (works.failure) throw new FailureError(works.failure as typeof failure);
        return name === "service.list" ? [http] : name === "rate.history" ? { series: [] } : { lines: [] };
      },
      subscribe: () => () => {},
      onOpen: (listener: () => void) => {
        opened = listener;
        listener();
      },
    } as unknown as ControlClient;
    const stores = createDashboardStores(client, (run) => run());
    return { stores, works, reopen: () => opened() };
  }

  it("[BL-138] show why they failed, and are retried until they succeed", async () => {
    vi.useFakeTimers();
    const { stores, works } = setUp();
    await vi.advanceTimersByTimeAsync(0);
    expect([stores.loadFailure.get(), stores.services.get()]).toEqual([failure, []]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(works.calls).toBe(3 * 3);
    works.failure = undefined;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([stores.loadFailure.get(), stores.services.get()]).toEqual([undefined, [http]]);
    vi.useRealTimers();
  });

  it("[BL-138] wait for the next connection if it is lost, which ends the earlier retries", async () => {
    vi.useFakeTimers();
    const { stores, works, reopen } = setUp();
    await vi.advanceTimersByTimeAsync(0);
    works.failure = { ...failure, code: "CONNECTION_LOST" };
    reopen();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([stores.loadFailure.get(), works.calls]).toEqual([undefined, 2 * 3]);
    vi.useRealTimers();
  });
});
