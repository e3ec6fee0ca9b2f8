import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { until } from "../support/until.ts";

import { itemMs, itemsOfShare, itemsOfTurn, openTurns } from "./turns-harness.ts";

it("[BL-415] a connection that had little to do in several turns has its turn before hundreds of new ones", async () => {
  const { client, count, done } = openTurns();
  const calm = client("calm", 1, "a");
  for (let turn = 0; turn < 12; turn++) {
    await nextTurn();
    calm.receive(1);
  }
  client("late", 1, "a", 10);
  for (let index = 0; index < 200; index++) client(`a${index}`, 4, "a");
  const [before, ofCalm] = [done.length, count("calm")];
  calm.receive(1);
  expect(count("calm")).toBe(ofCalm);
  await nextTurn();
  expect(done[before]).toBe("calm");
  // Once it has much to do, it waits as they do.
  calm.receive(16 * itemsOfShare);
  await nextTurn();
  expect(count("calm")).toBeLessThanOrEqual(ofCalm + 2 + 4 * itemsOfShare + itemsOfTurn / 2);
});

it("[BL-415] one that has used up a share has its turn while hundreds come again and again that have not", async () => {
  const { client, count, done } = openTurns();
  const calm = Array.from({ length: 300 }, (_, index) => client(`calm${index}`, 1, "a"));
  const bystander = client("bystander", 1, "a");
  for (let times = 0; times < 12; times++) {
    await until(() => done.length === (times + 1) * 301);
    await nextTurn();
    for (const one of [...calm, bystander]) one.receive(1);
  }
  await until(() => done.length === 13 * 301);
  const wanted = count("bystander") + 3 * itemsOfShare;
  bystander.receive(3 * itemsOfShare);
  const given = calm.map((_, index) => count(`calm${index}`));
  let turns = 0;
  for (; count("bystander") < wanted && turns < 100; turns++) {
    for (const [index, one] of calm.entries())
      if (count(`calm${index}`) === given[index]) {
        one.receive(1);
        given[index] = (given[index] ?? 0) + 1;
      }
    await nextTurn();
  }
  expect(turns).toBeLessThan(100);
});

it("[BL-415] new connections and those with much to do have a part of the time beside hundreds that have little again and again", async () => {
  const { accept, client, count } = openTurns();
  const calm = Array.from({ length: 300 }, (_, index) => client(`calm${index}`, 1, "a"));
  for (let turn = 0; turn < 40; turn++) {
    await nextTurn();
    if (turn % 4 === 3) for (const one of calm) one.receive(1);
  }
  client("much", 10_000, "b");
  for (const isAccepting of [false, true]) {
    const before = count("much");
    client(`new${isAccepting}`, 1, "c", 9);
    // Half of the turns in which connections are accepted have no time for anything else (BL-412).
    for (let turn = 0; turn < (isAccepting ? 64 : 32); turn++) {
      for (const one of calm) one.receive(1);
      if (isAccepting) accept("d", 1);
      await nextTurn();
    }
    expect(count("much")).toBeGreaterThan(before + 4 * itemsOfShare);
    expect(count(`new${isAccepting}`)).toBe(1);
  }
});

it("[BL-415] the first requests of a new connection are done before those that have much to do go on, also where each takes some shares", async () => {
  const { turns, client, count, done } = openTurns();
  for (let index = 0; index < 200; index++) client(`hog ${index}`, 100_000, "a");
  // Until each of them has had more than a new one has first.
  while (done.length < 200 * 16 * itemsOfShare) await nextTurn();
  for (let index = 0; index < 5; index++) {
    const name = `new ${index}`;
    const from = done.length;
    client(name, 7, "a");
    while (count(name) < 7) await nextTurn();
    expect(done.lastIndexOf(name) - from).toBeLessThan(itemsOfTurn);
  }
  turns.close();
});

it("[BL-415] those that had much have their part also where hundreds of new ones come before them, of which each takes the time of a turn", async () => {
  const { client, count, done } = openTurns();
  const much = client("much", 200, "a");
  while (count("much") < 200) await nextTurn();
  for (let index = 0; index < 900; index++) client(`new ${index}`, 1, "a", 8);
  const from = done.length;
  much.receive(8 * itemsOfShare);
  while (count("much") < 200 + 8 * itemsOfShare) await nextTurn();
  expect(done.length - from).toBeLessThanOrEqual(8 * itemsOfShare + 4);
});

it("[BL-344] a client that has little to do now and then has its turn before those that always have more", async () => {
  const { done, client, count } = openTurns();
  for (let index = 0; index < 100; index++) client(`much ${index}`, 1_000, "a");
  // Until each of them has had more than a new one has first.
  while (done.length < 100 * 16 * itemsOfShare) await nextTurn();
  const little = client("little", 0, "a");
  for (let turn = 1; turn <= 5; turn++) {
    // Twice the time of the turn is over.
    client(`long ${turn}`, 1, "b", 8);
    little.receive(1);
    const before = done.length;
    await nextTurn();
    expect([count("little"), done.indexOf("little", before) - before]).toEqual([turn, 0]);
  }
});

it("[BL-425] a connection that sends one request after the other has little to do, also where each takes a share", async () => {
  const { turns, client, count } = openTurns();
  for (let index = 0; index < 12; index++) client(`hog ${index}`, 100_000, "a");
  const waits: number[] = [];
  const quiet = client("quiet", 0, "a", 0.375);
  for (let request = 1; request <= 30; request++) {
    const before = turns.turn;
    quiet.receive(1);
    while (count("quiet") < request) await nextTurn();
    waits.push(turns.turn - before);
  }
  expect(Math.max(...waits.slice(20))).toBeLessThanOrEqual(2);
});

it("[BL-425] what a connection had beyond its share is forgotten with the turns that pass", async () => {
  const { client, count, done } = openTurns();
  const old = client("old", 1, "a", 1);
  for (let turn = 0; turn < 200; turn++) {
    await nextTurn();
    old.receive(1, 1);
  }
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  const before = { old: count("old"), done: done.length };
  for (let index = 0; index < 10; index++) client(`hog ${index}`, 100_000, "a");
  // More than a connection with little to do has.
  old.receive(64, itemMs);
  while (count("old") < before.old + 64) await nextTurn();
  expect(done.length - before.done).toBeLessThan(64 * 10 * 4);
});

it("[BL-425] a connection whose requests take many shares each is not one that has little to do", async () => {
  const { client, count, done } = openTurns();
  const heavy = Array.from({ length: 20 }, (_, index) => client(`heavy ${index}`, 1, "a", 2));
  const quiet = client("quiet", 1, "a");
  for (let turn = 0; turn < 30; turn++) {
    await nextTurn();
    quiet.receive(1);
  }
  for (let round = 1; round <= 12; round++) {
    for (const one of heavy) one.receive(1, 2);
    while (done.filter((name) => name.startsWith("heavy")).length < 20 * (round + 1)) await nextTurn();
  }
  for (const one of heavy) one.receive(20, 2);
  await nextTurn();
  let before = 0;
  for (let asked = 0; asked < 5; asked++) {
    const [from, own] = [done.length, count("quiet")];
    quiet.receive(1);
    while (count("quiet") === own) await nextTurn();
    before = Math.max(before, done.indexOf("quiet", from) - from);
  }
  expect(before).toBeLessThanOrEqual(4);
});

it("[BL-415] a connection that had little to do for long does so also after a pause of the process, such as a garbage collection", async () => {
  const { client, count, done } = openTurns();
  const calm = client("calm", 1, "a");
  for (let turn = 0; turn < 40; turn++) {
    await nextTurn();
    calm.receive(1);
  }
  for (let pause = 0; pause < 2; pause++) {
    calm.receive(1, 100);
    await nextTurn();
  }
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  client("late", 1, "a", 10);
  for (let index = 0; index < 200; index++) client(`a${index}`, 4, "a");
  const [before, ofCalm] = [done.length, count("calm")];
  calm.receive(1, itemMs);
  while (count("calm") === ofCalm) await nextTurn();
  expect(done.indexOf("calm", before) - before).toBeLessThanOrEqual(4);
});

it("[BL-425] a request that has one long item among many short ones is much", async () => {
  const { client, count, done } = openTurns();
  const heavy = Array.from({ length: 50 }, (_, index) => client(`heavy ${index}`, 1, "a"));
  const quiet = client("quiet", 1, "a");
  const ask = (one: (typeof heavy)[number]) => one.receive(31, (item) => (item % 31 === 0 ? 4 : 1 / 512));
  for (let turn = 0; turn < 30; turn++) {
    await nextTurn();
    for (const one of [...heavy, quiet]) one.receive(1, 1 / 64);
  }
  let before = 0;
  let asked = heavy.length * 31;
  for (let round = 1; round <= 12; round++) {
    for (const one of heavy) ask(one);
    asked += heavy.length * 31;
    const [from, own] = [done.length, count("quiet")];
    quiet.receive(1, 1 / 64);
    while (count("quiet") === own) await nextTurn();
    // Their first long items may have been held up by something else.
    if (round > 4) before = Math.max(before, new Set(done.slice(from, done.indexOf("quiet", from))).size);
    while (done.filter((name) => name !== "quiet").length < asked) await nextTurn();
  }
  expect(before).toBeLessThanOrEqual(4);
});

it("[BL-425] a connection whose requests are held up now and then has little to do", async () => {
  const { client, count, done } = openTurns();
  const quiet = client("quiet", 1, "a", 1 / 8);
  let before = 0;
  for (let index = 0; index < 20; index++) client(`hog ${index}`, 100_000, "a");
  for (let request = 1; request <= 200; request++) {
    await nextTurn();
    const [from, own] = [done.length, count("quiet")];
    quiet.receive(1, request % 20 === 19 ? 16 : 1 / 8);
    while (count("quiet") === own) await nextTurn();
    if (request > 20) before = Math.max(before, done.indexOf("quiet", from) - from);
  }
  expect(before).toBeLessThanOrEqual(2 * itemsOfShare);
});

it("[BL-425] time in which other programs have the processor does not count for a connection", async () => {
  const { client, count, done } = openTurns((name) => (name === "quiet" ? 5 : 0));
  const quiet = client("quiet", 1, "a", 1 / 8);
  for (let index = 0; index < 20; index++) client(`hog ${index}`, 100_000, "a");
  let before = 0;
  for (let request = 1; request <= 60; request++) {
    await nextTurn();
    const [from, own] = [done.length, count("quiet")];
    quiet.receive(1);
    while (count("quiet") === own) await nextTurn();
    if (request > 20) before = Math.max(before, done.indexOf("quiet", from) - from);
  }
  expect(before).toBeLessThanOrEqual(2 * itemsOfShare);
});

it("[BL-425] a request of several items of which some are held up goes on before those that have much to do", async () => {
  const { turns, client, count, done } = openTurns();
  const quiet = client("quiet", 1, "a", 1 / 8);
  let before = 0;
  for (let index = 0; index < 50; index++) client(`hog ${index}`, 100_000, "a");
  for (let request = 1; request <= 100; request++) {
    await nextTurn();
    const [from, own] = [done.length, count("quiet")];
    // As by a garbage collection.
    quiet.receive(3, (left) => (left > 1 && request % 20 === 19 ? 16 : 1 / 16));
    while (count("quiet") < own + 3) await nextTurn();
    if (request > 20) before = Math.max(before, done.lastIndexOf("quiet") - from);
  }
  expect(before).toBeLessThanOrEqual(3 * itemsOfTurn);
  turns.close();
});

it("[BL-415] one that comes while hundreds send long requests now and then has its turn before them", async () => {
  const { turns, client, count, done } = openTurns();
  const heavy = Array.from({ length: 100 }, (_, index) => ({ name: `heavy ${index}`, sent: 1, ask: client(`heavy ${index}`, 1, "a", 8) }));
  const pauseTurns = 40;
  const waiting = new Map<(typeof heavy)[number], number>();
  const ask = () => {
    for (const one of heavy) {
      if (count(one.name) < one.sent) continue;
      const until = waiting.get(one) ?? turns.turn + pauseTurns;
      waiting.set(one, until);
      if (turns.turn < until) continue;
      waiting.delete(one);
      one.sent++;
      one.ask.receive(1);
    }
  };
  for (let turn = 0; turn < 500; turn++) {
    await nextTurn();
    ask();
  }
  const late = client("late", 0, "a");
  for (let request = 1; request <= 5; request++) {
    ask();
    const from = done.length;
    late.receive(1);
    while (count("late") < request) {
      await nextTurn();
      ask();
    }
    expect(done.indexOf("late", from) - from).toBeLessThanOrEqual(3);
  }
  // More than a share each, but not many.
  const other = client("other", 0, "a", 3 * itemMs);
  for (let request = 1; request <= 5; request++) {
    ask();
    const from = done.length;
    other.receive(1);
    while (count("other") < request) {
      await nextTurn();
      ask();
    }
    expect(done.indexOf("other", from) - from).toBeLessThanOrEqual(3);
  }
});

it("[BL-415] one with short requests has its turn before hundreds whose requests take more than a share each", async () => {
  const { client, count, done } = openTurns();
  const others = Array.from({ length: 200 }, (_, index) => ({
    name: `other ${index}`,
    sent: 1,
    client: client(`other ${index}`, 1, "a", 0.75),
  }));
  const quiet = client("quiet", 1, "a");
  const ask = () => {
    for (const one of others) {
      if (count(one.name) < one.sent) continue;
      one.sent++;
      one.client.receive(1);
    }
  };
  let before = 0;
  for (let request = 2; request <= 60; request++) {
    ask();
    const from = done.length;
    quiet.receive(1);
    while (count("quiet") < request) {
      await nextTurn();
      ask();
    }
    if (request > 40) before = Math.max(before, done.indexOf("quiet", from) - from);
  }
  expect(before).toBeLessThanOrEqual(8);
});

it("[BL-415] what goes on after a wait counts with what came before it, and does not make a connection calm", async () => {
  const { turns, client } = openTurns();
  for (const goesOn of [false, true]) {
    const work = turns.connection("a");
    work.goesOn = () => goesOn;
    const one = client("one", 1, "a", itemMs, work);
    for (let times = 0; times < 40; times++) {
      await nextTurn();
      one.receive(1);
    }
    expect(work.isCalm).toBe(!goesOn);
  }
});

it.each([
  ["", 0],
  [", also where other programs have the processor in between", 2],
])(
  "[BL-415] one whose requests take more than a share each, and no millisecond, has its turn before hundreds that have sent much at once%s",
  async (_when, othersMs) => {
    const { client, count, done } = openTurns((name) => (name === "quiet" ? othersMs : 0));
    const quiet = client("quiet", 1, "a", 0.6);
    const ask = async () => {
      const [from, before] = [done.length, count("quiet")];
      quiet.receive(1);
      while (count("quiet") === before) await nextTurn();
      return done.indexOf("quiet", from) - from;
    };
    for (let request = 0; request < 20; request++) {
      await nextTurn();
      await ask();
    }
    for (let index = 0; index < 200; index++) client(`other ${index}`, 100, "a");
    let most = 0;
    for (let request = 0; request < 20; request++) most = Math.max(most, await ask());
    // In a turn or two.
    expect(most).toBeLessThan(300);
  },
);
