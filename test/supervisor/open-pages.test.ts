import { expect, it, onTestFinished, vi } from "vitest";
import type { LogLine } from "../../contract/log.ts";
import { createOpenPages } from "../../servers/supervisor/open-pages.ts";
import { createEventLog } from "../support/event-log.ts";
import { supervise } from "./supervise.ts";

it("[BL-577] the pages were left when none has been open for 15 s: one that is loaded again is back before", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const onLeft = vi.fn();
  const pages = createOpenPages({ restMs: 15_000, onLeft });
  const open = () => {
    const closers: (() => void)[] = [];
    pages.add({ onClose: (listener) => void closers.push(listener) });
    return () => closers.forEach((close) => void close());
  };
  const closeFirst = open();
  closeFirst();
  vi.advanceTimersByTime(14_999);
  const closeSecond = open();
  const closeThird = open();
  vi.advanceTimersByTime(60_000);
  closeSecond();
  vi.advanceTimersByTime(60_000);
  expect(onLeft).toHaveBeenCalledTimes(0);
  closeThird();
  vi.advanceTimersByTime(15_000);
  expect(onLeft).toHaveBeenCalledTimes(1);
  open()();
  pages.close();
  vi.advanceTimersByTime(60_000);
  expect(onLeft).toHaveBeenCalledTimes(1);
});

it("[BL-577] the services are told that the pages were left", async () => {
  const { supervisor, dashboard } = await supervise({ pagesLeftMs: 1 });
  const lines = createEventLog<LogLine>();
  supervisor.onLog((written) => written.forEach(lines.add));
  await supervisor.start("http");
  dashboard.close();
  await lines.until(({ source, text }) => source === "http" && text === "left: no page of Backlot is open any more");
});
