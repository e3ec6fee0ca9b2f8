import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { WorkTurns } from "../../servers/core/service/work-turns.ts";
import { SessionReadings } from "../../servers/grpc/engine/session-reading.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

type Connection = ReturnType<typeof connectionOf>;
let starts = 0;

/** A connection whose calls take an item of time each. */
function connectionOf(readings: SessionReadings, turns: WorkTurns, address: string, pass: () => void) {
  const state = { begun: 0, lost: [] as string[], isReading: true, startedAt: 0, writeQueueSize: 0 };
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    _handle: {
      get writeQueueSize() {
        return state.writeQueueSize;
      },
      readStart() {
        if (!state.isReading) state.startedAt = ++starts;
        state.isReading = true;
      },
      readStop: () => (state.isReading = false),
    },
  });
  const reading = readings.open(socket as never, turns.connection(address));
  const begin = () => {
    pass();
    state.begun++;
  };
  return {
    state,
    socket,
    tookStep: () => reading.tookStep(),
    receive(calls: number, stream: object = { closed: false }) {
      for (let call = 0; call < calls; call++) reading.take(stream as never, begin, (why) => state.lost.push(why));
    },
  };
}

it("[GRPC-193] calls that arrive at once on many connections begin in the turns of all clients, which are read no further until then", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const open = (address: string) => connectionOf(readings, turns, address, pass);
  const many = Array.from({ length: 50 }, (_, index) => open(`10.0.1.${index}`));
  const one = open("10.0.0.2");
  const begun = () => many.reduce((sum, { state }) => sum + state.begun, one.state.begun);
  let read = 0;
  // Node reads all that are ready, except those that were stopped meanwhile.
  const poll = (calls: number) => {
    for (const { state, receive } of many.slice(read)) {
      if (!state.isReading) break;
      receive(calls);
      read++;
    }
  };
  poll(100);
  expect(begun()).toBeLessThanOrEqual(itemsOfTurn);
  expect(read).toBeLessThan(50);
  expect(one.state.isReading).toBe(false);
  await nextTurn();
  expect(one.state.isReading).toBe(true);
  expect(many[0]?.state.isReading).toBe(false);
  let most = 0;
  let turnsOfOne = 0;
  one.receive(1);
  while (begun() < 50 * 100 + 1) {
    const before = begun();
    poll(100);
    await nextTurn();
    most = Math.max(most, begun() - before);
    if (one.state.begun === 0) turnsOfOne++;
  }
  expect(most).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(turnsOfOne).toBeLessThanOrEqual(2);
  await nextTurn();
  expect([...many, one].every(({ state }) => state.isReading)).toBe(true);
});

it("[GRPC-193] a call whose stream is closed before its turn has a row that says why", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const busy = connectionOf(readings, turns, "10.0.0.1", pass);
  busy.receive(2 * itemsOfTurn);
  busy.receive(1, { closed: true, rstCode: 8, session: { destroyed: false } });
  await until(() => busy.state.lost.length === 1);
  expect(busy.state.lost).toEqual(["client cancelled"]);
  busy.receive(2 * itemsOfTurn);
  busy.socket.destroyed = true;
  await until(() => busy.state.begun + busy.state.lost.length === 4 * itemsOfTurn + 1);
  expect(busy.state.lost.at(-1)).toBe("client left");
});

it("[GRPC-193] a connection is not read while its client leaves answers unread", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const slow = connectionOf(readings, turns, "10.0.0.1", pass);
  slow.state.writeQueueSize = 1;
  slow.receive(itemsOfTurn);
  await until(() => slow.state.begun === itemsOfTurn);
  await nextTurn();
  expect(slow.state.isReading).toBe(false);
  slow.state.writeQueueSize = 0;
  await until(() => slow.state.isReading);
});

it("[GRPC-193] connections that thousands of clients end at once are found in several polls", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const [one, other] = [1, 2].map(() => connectionOf(readings, turns, "10.0.0.1", pass));
  one?.receive(1);
  for (let item = 0; item < itemsOfTurn; item++) pass();
  expect(other?.state.isReading).toBe(true);
  one?.socket.emit("end");
  expect(other?.state.isReading).toBe(false);
  await nextTurn();
  expect(other?.state.isReading).toBe(true);
});

it("[GRPC-197] where messages use up the time of a turn, no connection is read until the next poll, and those with many not before the one after it", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const [one, other] = [1, 2].map(() => connectionOf(readings, turns, "10.0.0.1", pass)) as [Connection, Connection];
  let steps = 0;
  for (; other.state.isReading && steps < 10_000; steps++) {
    one.tookStep();
    if (steps % 8 === 0) pass();
  }
  expect(steps).toBeLessThanOrEqual(8 * itemsOfTurn + 1);
  expect(steps).toBeGreaterThan(512);
  expect(one.state.isReading).toBe(false);
  await nextTurn();
  expect([one.state.isReading, other.state.isReading]).toEqual([false, true]);
  await nextTurn();
  expect([one.state.isReading, other.state.isReading]).toEqual([true, true]);
});

it("[GRPC-197] a connection with many messages is read now and then, however much the others have", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const [busy, ...others] = Array.from({ length: 10 }, () => connectionOf(readings, turns, "10.0.0.1", pass)) as [
    Connection,
    ...Connection[],
  ];
  for (let step = 0; step <= 512; step++) busy.tookStep();
  let reads = 0;
  for (let turn = 0; turn < 100; turn++) {
    const startedAt = busy.state.startedAt;
    for (const { state, tookStep } of others) {
      if (!state.isReading) continue;
      for (let item = 0; item <= 2 * itemsOfTurn; item++) pass();
      tookStep();
    }
    await nextTurn();
    if (busy.state.startedAt > startedAt) reads++;
  }
  expect(reads).toBeGreaterThan(10);
  expect(reads).toBeLessThan(60);
});

it("[GRPC-197] what waits for its turn may take longer than one: connections are read after it all the same", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const [one, other] = [1, 2].map(() => connectionOf(readings, turns, "10.0.0.1", pass)) as [Connection, Connection];
  let isDone = false;
  const task = turns.join("10.0.0.2", () => {
    for (let item = 0; item < 3 * itemsOfTurn; item++) pass();
    // Of messages that Node had read before.
    one.tookStep();
    isDone = true;
  });
  task.later();
  await nextTurn();
  expect([isDone, other.state.isReading]).toEqual([true, true]);
  one.tookStep();
  expect(other.state.isReading).toBe(true);
  for (let item = 0; item < itemsOfTurn; item++) pass();
  one.tookStep();
  expect(other.state.isReading).toBe(false);
});

it("[GRPC-198] of connections whose first calls cannot be read yet the newest and the oldest take turns", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const open = () => connectionOf(readings, turns, "10.0.0.1", pass);
  const left = Array.from({ length: 60 }, open);
  const read: number[] = [];
  for (let turn = 0; turn < 400 && left.length > 0; turn++) {
    // Node is told first of those that were started first.
    const [next] = left.filter(({ state }) => state.isReading).sort((one, other) => one.state.startedAt - other.state.startedAt);
    if (next) {
      next.receive(250);
      read.push(left.indexOf(next) + 1 - left.length);
      left.splice(left.indexOf(next), 1);
    }
    if (read.length === 10 && left.length === 50) left.push(open());
    await nextTurn();
  }
  expect(left.length).toBe(0);
  // 0 is the newest.
  expect(read.slice(10, 14).filter((place) => place === 0).length).toBeGreaterThan(0);
  expect(read.slice(10, 30).filter((place) => place !== 0).length).toBeGreaterThan(5);
});

it("[GRPC-194] while many calls of an address wait, its connections that may bring many more are not read, and those with few are", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const open = (address: string) => connectionOf(readings, turns, address, pass);
  const few = open("10.0.0.1");
  few.receive(1);
  const many = Array.from({ length: 200 }, () => open("10.0.0.1"));
  const left = new Map(many.map((connection) => [connection, 2 * 250]));
  const begun = () => many.reduce((sum, { state }) => sum + state.begun, 0);
  let received = 0;
  let mostWaiting = 0;
  let fewAreRead = 0;
  let turnsWithMany = 0;
  while (begun() < 200 * 2 * 250) {
    for (const [connection, calls] of left) {
      if (calls === 0 || !connection.state.isReading) continue;
      connection.receive(250);
      received += 250;
      left.set(connection, calls - 250);
    }
    mostWaiting = Math.max(mostWaiting, received - begun());
    await nextTurn();
    if (received - begun() < 256) continue;
    turnsWithMany++;
    if (few.state.isReading) fewAreRead++;
  }
  expect(mostWaiting).toBeLessThanOrEqual(3 * 256);
  expect(turnsWithMany).toBeGreaterThan(100);
  expect(fewAreRead).toBe(turnsWithMany);
  expect(many.every(({ state }) => state.isReading)).toBe(true);
});

it("[GRPC-194] calls of all addresses that wait are bounded", async () => {
  const { turns, pass } = workTime();
  const readings = new SessionReadings(turns);
  const many = Array.from({ length: 200 }, (_, index) => connectionOf(readings, turns, `10.0.0.${index}`, pass));
  let received = 0;
  for (const { state, receive } of many) {
    if (!state.isReading) continue;
    receive(60);
    received += 60;
  }
  expect(received).toBeLessThan(4_096 + 200);
  await until(() => many.reduce((sum, { state }) => sum + state.begun, 0) === received);
  await nextTurn();
  expect(many.every(({ state }) => state.isReading)).toBe(true);
});
