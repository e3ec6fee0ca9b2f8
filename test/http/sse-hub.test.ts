import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { oneStep } from "../../servers/core/turns/work-connection.ts";
import { createSseHub } from "../../servers/http/sse/sse-hub.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { onEnd, until } from "./harness.ts";

/** A hub whose clients take all that they are sent. */
function openHub() {
  const { turns, pass } = workTime();
  const hub = createSseHub({ show: () => {}, touch: () => {}, log: createLog({ level: () => "error", write: () => {} }), turns });
  onEnd(() => turns.close());
  onEnd(() => hub.close());
  const state = { sent: 0, ended: 0 };
  const response = (remoteAddress: string, onSent = () => {}) =>
    ({
      req: { socket: { remoteAddress } },
      writeChunk() {
        pass();
        state.sent++;
        onSent();
      },
      end: () => (state.ended += 1),
      flushHeaders() {},
      once() {},
    }) as unknown as Parameters<typeof hub.subscribe>[0];
  /** The most that is sent in a turn of the event loop, until it is done. */
  async function mostInTurn(isDone: () => boolean): Promise<number> {
    let most = state.sent;
    while (!isDone()) {
      const before = state.sent;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, state.sent - before);
    }
    return most;
  }
  return { hub, state, response, mostInTurn, turns };
}
const plan = { firstId: 0, intervalMs: 0, delayMs: 0, resumedFrom: undefined };

it("[HTTP-136] streams faster than the service can send do not block others", async () => {
  const { hub, state, response, mostInTurn } = openHub();
  for (let stream = 0; stream < 1_000; stream++)
    hub.subscribe(response("10.0.0.1"), { ...plan, intervalMs: 10, endId: Number.POSITIVE_INFINITY });
  const opened = state.sent;
  // Their first events are sent as they come.
  expect(opened).toBe(1_000);
  state.sent = 0;
  expect(await mostInTurn(() => state.sent >= 2_000)).toBeLessThanOrEqual(itemsOfTurn);
});

it("[HTTP-136] what a client asks for comes before the events of streams of the same address", async () => {
  const { hub, state, response, turns } = openHub();
  for (let stream = 0; stream < 1_000; stream++) {
    hub.subscribe(response("10.0.0.1"), { ...plan, intervalMs: 10, endId: Number.POSITIVE_INFINITY });
    hub.subscribe(response("10.0.0.1"), { ...plan, intervalMs: 0, endId: 50_000 });
  }
  const bystander = turns.connection("10.0.0.1");
  await until(() => state.sent > 3_000);
  for (let asked = 0; asked < 20; asked++) {
    const before = state.sent;
    await bystander.run(oneStep(() => {}));
    expect(state.sent - before).toBeLessThanOrEqual(itemsOfTurn);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

it("[HTTP-136] streams of a number of events without a pause are sent in slices, each to its end", async () => {
  const { hub, state, response, mostInTurn } = openHub();
  const streams = { count: 50, events: 400 };
  for (let stream = 0; stream < streams.count; stream++) hub.subscribe(response("10.0.0.1"), { ...plan, endId: streams.events });
  expect(await mostInTurn(() => state.ended === streams.count)).toBeLessThanOrEqual(itemsOfTurn);
  expect(state.sent).toBe(streams.count * streams.events);
});

it("[HTTP-136] thousands of streams of one client do not delay the stream of another", async () => {
  const { hub, state, response, mostInTurn } = openHub();
  for (let stream = 0; stream < 2_000; stream++) hub.subscribe(response("10.0.0.1"), { ...plan, endId: 50_000 });
  let own = 0;
  const before = state.sent;
  hub.subscribe(
    response("10.0.0.2", () => own++),
    { ...plan, endId: 100 },
  );
  await mostInTurn(() => own === 100);
  // As often as the other client it has had its share.
  expect(state.sent - before).toBeLessThanOrEqual(3 * itemsOfTurn + 200);
});

it("[HTTP-50] a stream of a number of events waits for its client to take them, and drops none", async () => {
  const { hub, state, response } = openHub();
  const socket = new EventEmitter();
  let unsent = 0;
  const slow = response("10.0.0.1", () => {
    unsent += 10_000;
  });
  Object.defineProperties(slow, { socket: { value: socket }, writableLength: { get: () => unsent } });
  hub.subscribe(slow, { ...plan, endId: 100 });
  let times = 0;
  for (; state.ended === 0; times++) {
    await until(() => unsent > 64 << 10 || state.sent === 100);
    const { sent } = state;
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.sent).toBe(sent);
    unsent = 0;
    socket.emit("drain");
  }
  expect([state.sent, times > 10]).toEqual([100, true]);
});
