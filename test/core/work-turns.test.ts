import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

import { itemMs, itemsOfShare, itemsOfTurn, openTurns } from "./turns-harness.ts";

it("[BL-337] work of the service for many goes on in the next turns, and a client has its share between", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const done: number[] = [];
  const all = turns.each(Array(itemsOfTurn * 3).keys(), (index) => {
    nowMs += itemMs;
    done.push(index);
  });
  expect(done.length).toBeLessThanOrEqual(itemsOfTurn);
  expect(turns.join("client", () => {}).isOver).toBe(false);
  await all;
  expect(done).toEqual([...Array(itemsOfTurn * 3).keys()]);
});

it("[BL-337] a client with more work than a turn of the event loop has goes on in the next ones", async () => {
  const { done, client } = openTurns();
  client("a", 3 * itemsOfTurn);
  expect(done.length).toBe(itemsOfShare);
  await nextTurn();
  expect(done.length).toBe(itemsOfShare + itemsOfTurn);
  await nextTurn();
  expect(done.length).toBe(itemsOfShare + 2 * itemsOfTurn);
  await nextTurn();
  expect(done.length).toBe(3 * itemsOfTurn);
});

it("[BL-344] clients with much work have small shares, in their order", async () => {
  const { done, client } = openTurns();
  for (const name of ["a", "b", "c"]) client(name, 6);
  expect(done.join("")).toBe("aabbcc");
  await nextTurn();
  expect(done.join("")).toBe("aabbccaabbccaabbcc");
});

it("[BL-344] an item that takes longer than a share, or than a turn, is followed by those of others", async () => {
  const { done, client } = openTurns();
  client("a", 3, "a", 6);
  client("b", 2);
  expect(done.join("")).toBe("abb");
  await nextTurn();
  await nextTurn();
  expect(done.join("")).toBe("abbaa");
});

it("[BL-344] a client that sends little has it done in a turn that is over, within twice the time", async () => {
  const { done, client, count } = openTurns();
  client("a", 1, "a", 4);
  client("b", 20, "b", 0);
  expect(count("b")).toBe(8);
  const c = client("c", 1, "c", 4);
  // Twice the time has passed.
  client("d", 1);
  expect(done.slice(-1)).toEqual(["c"]);
  await nextTurn();
  expect([count("b"), count("d")]).toEqual([20, 1]);
  // Its share of this turn is new.
  c.receive(1);
  expect(count("c")).toBe(2);
});

it("[BL-344] what others do between two items of a client does not count for it", () => {
  const { client, count } = openTurns();
  const a = client("a", 1);
  client("b", 1, "b", 1);
  a.receive(1);
  expect(count("a")).toBe(2);
});

it("[BL-344] what others do who ask for no share does not count for the one that asked last", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const share = turns.join("quiet", () => {});
  const ticks = () => new Promise<void>((resolve) => process.nextTick(() => queueMicrotask(() => process.nextTick(resolve))));
  expect(share.isOver).toBe(false);
  nowMs += itemMs;
  await ticks();
  // In the same turn.
  nowMs += 4 * itemsOfShare * itemMs;
  expect(share.isOver).toBe(false);
  nowMs += itemMs;
  expect(share.isOver).toBe(true);
});

it("[BL-344] clients whose items take long have fewer of them: those with short ones have as much time", async () => {
  const { done, client, count } = openTurns();
  const long = ["1", "2", "3", "4"].flatMap((address) => [`${address}a`, `${address}b`]);
  for (const name of long) client(name, 1_000, name[0], 8);
  while (done.length < 8 * long.length) await nextTurn();
  for (const address of ["1", "5"]) {
    const before = done.length;
    const name = `short ${address}`;
    client(name, 16 * itemsOfShare, address);
    while (count(name) < 16 * itemsOfShare) await nextTurn();
    // Else one of each before each share.
    expect(done.slice(before).filter((other) => long.includes(other)).length).toBeLessThanOrEqual(2 * long.length);
  }
});

it("[BL-344] an item that was held up by something else does not put a client behind those whose items always take long", async () => {
  const { done, client, count } = openTurns();
  for (const name of ["a", "b", "c", "d"]) client(name, 1_000, "address", 4);
  const little = client("little", 0, "address");
  for (let item = 0; item < 20; item++) {
    little.receive(1);
    await nextTurn();
  }
  little.receive(1, 20);
  little.receive(2 * itemsOfShare, itemMs);
  const before = done.length;
  while (count("little") < 21 + 2 * itemsOfShare) await nextTurn();
  expect(done.slice(before).filter((name) => name !== "little").length).toBeLessThanOrEqual(6);
});

it("[BL-412] a turn after a connection was accepted is short, but as long as what was read before it", async () => {
  const { turns, done, client, count } = openTurns();
  client("a", 8 * itemsOfTurn);
  await nextTurn();
  expect(count("a")).toBe(itemsOfShare + itemsOfTurn);
  turns.accepted("b");
  await nextTurn();
  expect(count("a")).toBe(itemsOfShare + itemsOfTurn + 4);
  await nextTurn();
  expect(count("a")).toBe(itemsOfShare + 2 * itemsOfTurn + 4);
  // Much was read, in more than the time of a turn: those who had much have their time all the same.
  turns.accepted("d");
  client("c", 1, "c", 8);
  client("b", 1);
  const before = done.length;
  await nextTurn();
  const next = done.slice(before);
  expect(next[0]).toBe("b");
  expect(next.length).toBeGreaterThanOrEqual(itemsOfTurn);
});

it("[BL-412] time in which other programs have the processor does not make the turn after an accepted connection longer", async () => {
  const { turns, client, count } = openTurns((name) => (name === "read" ? 8 : 0));
  client("a", 8 * itemsOfTurn);
  await nextTurn();
  const before = count("a");
  turns.accepted("b");
  client("read", 1, "b");
  await nextTurn();
  expect(count("a")).toBe(before + 4);
});

it("[BL-412] while connections come, they are accepted for as long as what was done before took", async () => {
  const { turns, client, count } = openTurns();
  // Each item is as a handshake. Before the first turn another one was read.
  client("c", 8, "c", 2);
  const counts: number[] = [];
  for (let accepted = 0; accepted < 4; accepted++) {
    turns.accepted("d");
    await nextTurn();
    counts.push(count("c"));
  }
  expect(counts).toEqual([2, 2, 2, 2]);
  // Nobody connects any more.
  await nextTurn();
  expect(count("c")).toBe(4);
});

it("[BL-345] many connections of one address do not delay that of another", async () => {
  const { done, client, count } = openTurns();
  for (let index = 0; index < 100; index++) client(`a${index}`, 100, "a");
  client("b", 3 * itemsOfShare, "b");
  expect(count("b")).toBe(0);
  const before = done.length;
  await nextTurn();
  expect(count("b")).toBe(3 * itemsOfShare);
  // Those of the address have the rest of the turn, each in its turn.
  const ofAddress = done.slice(before).filter((name) => name !== "b");
  expect(ofAddress.length).toBe(itemsOfTurn - 3 * itemsOfShare);
  expect(Math.max(...[...new Set(ofAddress)].map((name) => ofAddress.filter((other) => other === name).length))).toBe(itemsOfShare);
});

it("[BL-345] the addresses of one IPv6 network are one", async () => {
  const { done, client } = openTurns();
  for (const [name, address] of Object.entries({ a: "2001:db8::1", b: "2001:db8::2", c: "2001:db8:0:1::1" })) client(name, 4, address);
  await nextTurn();
  expect(done.join("")).toBe("aabbccaaccbb");
});

it("[BL-345] a connection with many tasks has one place, and its tasks take turns", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const done: string[] = [];
  const many = turns.connection("a");
  const task = (name: string, connection: ReturnType<typeof turns.connection>, items: number) => {
    const share = connection.join(goOn);
    let left = items;
    function goOn(): void {
      for (; left > 0; left--) {
        if (share.isOver) {
          share.later();
          return;
        }
        nowMs += itemMs;
        done.push(name);
      }
    }
    goOn();
  };
  for (const name of ["a1", "a2", "a3"]) task(name, many, 4);
  task("b", turns.connection("a"), 4);
  expect(done.join(" ")).toBe("a1 a1 b b");
  await nextTurn();
  expect(done.join(" ")).toBe("a1 a1 b b a1 a1 b b a2 a2 a3 a3 a2 a2 a3 a3");
});

it("[BL-344] what goes on by itself for many delays nobody who asks for much, also of the same address, and has a quarter of the time", async () => {
  const { turns, done, client, count } = openTurns();
  for (let index = 0; index < 1_000; index++) client("x", 1_000, "a", itemMs, turns.background("a"));
  await nextTurn();
  client("b", 3 * itemsOfShare, "a");
  await nextTurn();
  await nextTurn();
  expect(count("b")).toBe(3 * itemsOfShare);
  client("c", 1_000 * itemsOfTurn, "a");
  done.length = 0;
  for (let turn = 0; turn < 8; turn++) await nextTurn();
  expect(count("x")).toBeGreaterThanOrEqual(2 * itemsOfTurn - 2 * itemsOfShare);
  expect(count("c")).toBeGreaterThanOrEqual(5 * itemsOfTurn);
});

it("[BL-344] a client is not behind because of the time in which it had nothing to do", async () => {
  let nowMs = 0;
  const share = new WorkTurns(() => nowMs).join("a", () => {});
  for (let turn = 0; turn < 3; turn++) {
    expect(share.isOver).toBe(false);
    nowMs += 100;
    await nextTurn();
  }
});

it("[BL-337] steps of one work are carried out in the client's share, up to their result or an error", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  let done = 0;
  function* steps(count: number): Generator<void, string> {
    for (let step = 0; step < count; step++) {
      nowMs += itemMs;
      done++;
      yield;
    }
    if (count === 1) throw new Error("no");
    return "all";
  }
  const all = turns.connection("a").run(steps(2 * itemsOfTurn));
  expect(done).toBe(itemsOfShare);
  await nextTurn();
  expect(done).toBe(itemsOfShare + itemsOfTurn);
  expect(await all).toBe("all");
  await expect(turns.connection("a").run(steps(1))).rejects.toThrow("no");
});

it("[BL-345] a task of a connection does not overtake those that wait", async () => {
  let nowMs = 0;
  const connection = new WorkTurns(() => nowMs).connection("a");
  const done: string[] = [];
  const task = (name: string, ms: number) => {
    const share = connection.join(goOn);
    function goOn(): void {
      if (share.isOver) {
        share.later();
        return;
      }
      nowMs += ms;
      done.push(name);
    }
    goOn();
  };
  task("first", 5);
  for (const name of ["second", "third", "fourth"]) task(name, 3);
  await nextTurn();
  // The third and the fourth still wait in a turn that is new.
  task("fifth", 1);
  while (done.length < 5) await nextTurn();
  expect(done).toEqual(["first", "second", "third", "fourth", "fifth"]);
});

it("[BL-410] two jobs of other threads run at once, and addresses and connections that wait have them in turns", async () => {
  const turns = new WorkTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const client = (name: string, address: string) => {
    const connection = turns.connection(address);
    return (count: number) =>
      Array.from({ length: count }, () =>
        connection.runElsewhere(async () => {
          begun.push(name);
          await new Promise<void>((resolve) => ends.push(resolve));
          if (name === "fails") throw new Error("damaged");
          return name;
        }),
      );
  };
  const many = client("many", "10.0.0.1")(6);
  const more = client("more", "10.0.0.1")(2);
  const [failing] = client("fails", "10.0.0.2")(1);
  const failed = expect(failing).rejects.toThrow("damaged");
  for (let job = 0; job < 9; job++) {
    while (ends.length === 0) await nextTurn();
    if (job < 7) {
      await nextTurn();
      expect(begun.length).toBe(job + 2);
    }
    ends.shift()?.();
  }
  expect(await Promise.all([...many, ...more])).toHaveLength(8);
  await failed;
  expect(begun).toEqual(["many", "many", "many", "fails", "more", "many", "more", "many", "many"]);
  turns.close();
});
