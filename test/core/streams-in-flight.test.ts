import { expect, it } from "vitest";
import { StreamsInFlight } from "../../servers/core/streams/streams-in-flight.ts";

const item = 100 << 10;

/** Sends until it has to wait; how much it sent. */
function fill(stream: { trySend(bytes: number): boolean }): number {
  let sent = 0;
  while (stream.trySend(item)) sent += item;
  return sent;
}

it("[BL-419] what all streams to a service have in flight is bounded, and each has a part of it", () => {
  const all = new StreamsInFlight();
  const greedy = Array.from({ length: 199 }, () => all.open(() => {}));
  const sent = greedy.reduce((sum, stream) => sum + fill(stream), 0);
  expect(sent).toBeLessThanOrEqual(132 << 20);
  const late = all.open(() => {});
  expect(fill(late)).toBeGreaterThanOrEqual(400 << 10);
});

it("[BL-419] a stream that waits is told when something of any stream was taken, or one has ended", () => {
  const all = new StreamsInFlight();
  let told = 0;
  const first = all.open(() => {});
  const second = all.open(() => told++);
  expect(first.trySend(40 << 20)).toBe(true);
  expect(second.trySend(20 << 20)).toBe(false);
  first.taken(1, 40 << 20);
  expect([told, second.trySend(20 << 20)]).toEqual([1, true]);
  expect(first.trySend(20 << 20)).toBe(false);
  second.close();
  expect(first.trySend(20 << 20)).toBe(true);
});
