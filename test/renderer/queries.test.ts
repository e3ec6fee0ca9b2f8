import { QueryObserver } from "@tanstack/react-query";
import { expect, it, onTestFinished } from "vitest";
import type { ControlClient } from "../../renderer/src/control/control-client.ts";
import { createQueries } from "../../renderer/src/control/queries.ts";

type Batch = Parameters<Parameters<ControlClient["subscribe"]>[1]>[0];

/** A client whose connection and states the test changes, and a call of the service http whose answers it gives. */
function observe() {
  let opened = () => {};
  let onStatus: (batch: Batch) => void = () => {};
  const client = {
    onOpen: (listener: () => void) => {
      opened = listener;
      return () => {};
    },
    subscribe: (_: string, listener: (batch: Batch) => void) => {
      onStatus = listener;
      return () => {};
    },
  };
  const queries = createQueries(client as unknown as ControlClient);
  const waiting: ((answer: number) => void)[] = [];
  const observer = new QueryObserver(queries, {
    queryKey: ["http", "one"],
    queryFn: () => new Promise<number>((resolve) => waiting.push(resolve)),
  });
  onTestFinished(observer.subscribe(() => {}));
  onTestFinished(() => queries.clear());
  return {
    waiting,
    value: () => observer.getCurrentResult().data,
    opened: () => opened(),
    turn: (state: string) => onStatus({ items: [{ id: "http", status: { state } }], dropped: 0 } as unknown as Batch),
  };
}

it("[BL-242] a change during a read is read once after it, and never twice at once", async () => {
  const { waiting, value, opened, turn } = observe();
  turn("stopped");
  await expect.poll(() => waiting.length).toBe(1);
  // The first read, and one that has an answer before it.
  for (const reads of [1, 3]) {
    opened();
    turn("starting");
    turn("running");
    // Longer than a read takes to begin.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(waiting.length).toBe(reads);
    waiting[reads - 1]?.(reads);
    await expect.poll(() => waiting.length).toBe(reads + 1);
    waiting[reads]?.(reads + 1);
    await expect.poll(value).toBe(reads + 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(waiting.length).toBe(reads + 1);
    turn("stopping");
    await expect.poll(() => waiting.length).toBe(reads + 2);
  }
});
