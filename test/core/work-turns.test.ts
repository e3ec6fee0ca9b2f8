import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";
import { until } from "../support/until.ts";

/** Of one item. Powers of two, so that sums are exact. */
const itemMs = 0.125;
const itemsOfShare = 2;
const itemsOfTurn = 32;

/** Time passes only while a client has work. */
function open() {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const done: string[] = [];
  const client = (name: string, items: number, address = name, ms = itemMs) => {
    let left = items;
    let each = ms;
    const goOn = () => {
      for (; left > 0; left--) {
        if (share.isOver) {
          share.later();
          return;
        }
        nowMs += each;
        done.push(name);
      }
    };
    const share = turns.join(address, goOn);
    goOn();
    return {
      receive(more: number, itemMs = ms) {
        each = itemMs;
        left += more;
        goOn();
      },
    };
  };
  return { turns, done, client, count: (name: string) => done.filter((other) => other === name).length };
}

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
  const { done, client } = open();
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
  const { done, client } = open();
  for (const name of ["a", "b", "c"]) client(name, 6);
  expect(done.join("")).toBe("aabbcc");
  await nextTurn();
  expect(done.join("")).toBe("aabbccaabbccaabbcc");
});

it("[BL-344] an item that takes longer than a share, or than a turn, is followed by those of others", async () => {
  const { done, client } = open();
  client("a", 3, "a", 6);
  client("b", 2);
  expect(done.join("")).toBe("abb");
  await nextTurn();
  await nextTurn();
  expect(done.join("")).toBe("abbaa");
});

it("[BL-344] a client that sends little has it done in a turn that is over, within twice the time", async () => {
  const { done, client, count } = open();
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
  const { client, count } = open();
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
  const { done, client, count } = open();
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
  const { done, client, count } = open();
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
  const { turns, done, client, count } = open();
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

it("[BL-415] a connection that had little to do in several turns has its turn before hundreds of new ones", async () => {
  const { client, count, done } = open();
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
  expect(count("calm")).toBeLessThanOrEqual(ofCalm + 1 + 8 * itemsOfShare);
});

it("[BL-415] one that has used up a share has its turn while hundreds come again and again that have not", async () => {
  const { client, count, done } = open();
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
  const { turns, client, count } = open();
  const calm = Array.from({ length: 300 }, (_, index) => client(`calm${index}`, 1, "a"));
  for (let turn = 0; turn < 40; turn++) {
    await nextTurn();
    if (turn % 4 === 3) for (const one of calm) one.receive(1);
  }
  client("much", 10_000, "b");
  for (const isAccepting of [false, true]) {
    const before = count("much");
    client(`new${isAccepting}`, 1, "c", 9);
    for (let turn = 0; turn < 32; turn++) {
      for (const one of calm) one.receive(1);
      if (isAccepting) turns.accepted("d");
      await nextTurn();
    }
    expect(count("much")).toBeGreaterThan(before + 4 * itemsOfShare);
    expect(count(`new${isAccepting}`)).toBe(1);
  }
});

it("[BL-345] many connections of one address do not delay that of another", async () => {
  const { done, client, count } = open();
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
  const { done, client } = open();
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

it("[BL-344] a client that has little to do now and then has its turn before those that always have more", async () => {
  const { done, client, count } = open();
  for (let index = 0; index < 100; index++) client(`much ${index}`, 1_000, "a");
  // Until each of them has used up a share.
  for (let turn = 0; turn < 20; turn++) await nextTurn();
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

it("[BL-425] a connection that sends one request after the other has little to do, also where each takes a share", async () => {
  const { turns, client, count } = open();
  for (let index = 0; index < 60; index++) client(`hog ${index}`, 100_000, "a");
  const waits: number[] = [];
  const quiet = client("quiet", 0, "a", 0.375);
  for (let request = 1; request <= 60; request++) {
    const before = turns.turn;
    quiet.receive(1);
    while (count("quiet") < request) await nextTurn();
    waits.push(turns.turn - before);
  }
  expect(Math.max(...waits.slice(20))).toBeLessThanOrEqual(2);
});

it("[BL-425] what a connection had beyond its share is forgotten with the turns that pass", async () => {
  const { client, count, done } = open();
  const old = client("old", 1, "a", 1);
  for (let turn = 0; turn < 200; turn++) {
    await nextTurn();
    old.receive(1, 1);
  }
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  const before = { old: count("old"), done: done.length };
  for (let index = 0; index < 20; index++) client(`hog ${index}`, 100_000, "a");
  // More than a connection with little to do has.
  old.receive(64, itemMs);
  while (count("old") < before.old + 64) await nextTurn();
  expect(done.length - before.done).toBeLessThan(64 * 20 * 4);
});
