import { expect, it } from "vitest";
import { FlushScheduler, type TurnLine } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { slowlyWritten } from "./receiver.ts";

it("[MQTT-440] an answer for a client that asks for little is written before what is for others, however many there are", () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const others = Array.from({ length: 100 }, () => slowlyWritten(scheduler, () => now++));
  const [calm, large] = [slowlyWritten(scheduler, () => now++), slowlyWritten(scheduler, () => now++)];
  for (const { target } of others) target.output.put(Buffer.from("a"));
  scheduler.flush();
  for (const { target } of [calm, large]) target.output.answers(true);
  calm.target.output.put(Buffer.from("answer"));
  large.target.output.put(Buffer.alloc(20_000));
  scheduler.flush();
  expect([calm, large].map(({ receiver }) => receiver.received.length)).toEqual([1, 1]);
  expect(others.filter(({ receiver }) => receiver.received.length > 0).length).toBeLessThan(20);
  // Only the answers are so.
  calm.target.output.put(Buffer.from("message"));
  for (const { target } of others) target.output.put(Buffer.from("b"));
  scheduler.flush();
  expect(calm.receiver.received).toHaveLength(2);
});

it("[MQTT-440] those that wait take turns by their addresses, and those that ask for little go on while there is much to write", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 30 }, () => slowlyWritten(scheduler, () => now++));
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  const resumed: string[] = [];
  const wait = (name: string, line: TurnLine, address: string) => scheduler.whenWritten(() => void resumed.push(name), line, address);
  for (const name of ["a1", "a2", "a3"]) wait(name, "usual", "a");
  wait("b1", "usual", "b");
  wait("m1", "much", "c");
  wait("c1", "calm", "a");
  scheduler.flush();
  expect([scheduler.isBehind, scheduler.isCrowded]).toEqual([true, true]);
  expect(resumed).toEqual(["c1"]);
  while (resumed.length < 6) await new Promise((resolve) => setImmediate(resolve));
  expect(resumed).toEqual(["c1", "a1", "b1", "a2", "a3", "m1"]);
  expect([scheduler.isBehind, scheduler.isCrowded]).toEqual([false, false]);
});

it("[MQTT-443] CONNECTs come before what others wait for, for some of each turn, also while there is much to write", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 30 }, () => slowlyWritten(scheduler, () => now++));
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  const resumed: string[] = [];
  const takesTime = (name: string) => () => {
    now++;
    resumed.push(name);
  };
  for (let count = 0; count < 5; count++) scheduler.whenWritten(takesTime("fresh"), "fresh", "a");
  for (let count = 0; count < 3; count++) scheduler.whenWritten(takesTime("usual"), "usual", "b");
  scheduler.flush();
  expect([scheduler.isBehind, resumed.length]).toEqual([true, 2]);
  while (resumed.length < 8) await new Promise((resolve) => setImmediate(resolve));
  expect(resumed).toEqual([...Array(5).fill("fresh"), ...Array(3).fill("usual")]);
});

it("[MQTT-551] after a connection was accepted clients have little time in a turn, and then connections are accepted for as long as it took", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 40 }, () => slowlyWritten(scheduler, () => now++));
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const written = () => outputs.filter(({ receiver }) => receiver.received.length > 0).length;
  /** What is done in each of so many turns, in each of which a connection is accepted. */
  const turnsOf = async (count: number) => {
    const done: number[] = [];
    for (let turn = 0; turn < count; turn++) {
      const before = written();
      scheduler.accepted();
      await tick();
      now += 0.5;
      done.push(written() - before);
    }
    return done;
  };
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  await tick();
  expect(written()).toBe(4);
  expect(scheduler.isBehind).toBe(true);
  // A millisecond of writing in a turn, and three turns of half a millisecond in which nothing is written.
  expect(await turnsOf(8)).toEqual([1, 0, 0, 0, 1, 0, 0, 0]);
  while (scheduler.isBehind) await tick();
  expect(written()).toBe(40);
});

it("[MQTT-551] clients have their time once in a turn of the event loop, however much is added while what is late is written", async () => {
  let now = 0;
  let written = 0;
  const scheduler = new FlushScheduler(() => now);
  const next = slowlyWritten(scheduler, () => now++);
  const outputs = Array.from({ length: 30 }, () =>
    slowlyWritten(scheduler, () => {
      now++;
      written++;
      // What is written makes others write.
      next.target.output.put(Buffer.from("b"));
    }),
  );
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  const perTurn: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const before = scheduler.turns;
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(scheduler.turns - before);
  }
  expect(perTurn).toEqual([1, 1, 1, 1]);
  while (scheduler.isBehind) await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(30);
});

it("[MQTT-551] what is written at the end of the service is written at once, also after a connection was accepted", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const { receiver, target } = slowlyWritten(scheduler, () => now++);
  scheduler.accepted();
  await new Promise((resolve) => setImmediate(resolve));
  scheduler.accepted();
  target.output.put(Buffer.from("a"));
  scheduler.flush();
  expect(receiver.received).toHaveLength(1);
});

it("[MQTT-326] work for the page goes on in later turns when clients have had their time, and an error in it is the answer", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now++);
  const turns: number[] = [];
  function* work() {
    for (let step = 0; step < 100; step++) {
      turns.push(scheduler.turns);
      yield;
    }
    return "done";
  }
  expect(await scheduler.inTurns(work())).toBe("done");
  expect(new Set(turns).size).toBeGreaterThan(3);
  function* fails() {
    yield;
    throw new RangeError("boom");
  }
  await expect(scheduler.inTurns(fails())).rejects.toThrow("boom");
});
