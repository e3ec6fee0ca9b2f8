import { expect, it } from "vitest";
import { HeldRequests } from "../../servers/core/http/connections/held-requests.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";

/** Each connection loses in pieces of 10. */
function open(most: number) {
  const budget = new SharedBudget(most, most / 16);
  const lost: string[] = [];
  const connection = (name: string, address = name) => {
    let has = 0;
    const share = budget.open(address, (excess) => {
      for (let left = excess; left > 0 && has > 0; left -= 10) {
        lost.push(name);
        add(-Math.min(10, has));
      }
    });
    const add = (amount: number) => {
      has += amount;
      share.add(amount);
    };
    return { add, close: () => share.close(), has: () => has };
  };
  return { connection, lost };
}

it("[BL-346] beyond a bound for all the connection that has most loses, and no more than is needed", () => {
  const { connection, lost } = open(320);
  const [one, two, three] = ["a", "b", "c"].map((name) => connection(name, "10.0.0.1"));
  one?.add(100);
  two?.add(150);
  three?.add(70);
  expect(lost).toEqual([]);
  three?.add(10);
  // A sixteenth is free again.
  expect(lost).toEqual(["b", "b", "b"]);
  expect([one?.has(), two?.has(), three?.has()]).toEqual([100, 120, 80]);
});

it("[BL-346] thousands of connections of one address are one client beside the connection of another", () => {
  const { connection, lost } = open(1_600);
  const other = connection("other", "10.0.0.2");
  other.add(500);
  for (let index = 0; index < 1_000; index++) connection(`many ${index}`, "10.0.0.1").add(10);
  expect(other.has()).toBe(500);
  expect(lost.length).toBeGreaterThanOrEqual(1_000 - 110);
});

it("[BL-346] what a closed connection still has counts until it is returned", () => {
  const { connection, lost } = open(100);
  const [closed, open_] = [connection("closed"), connection("open")];
  closed.add(60);
  closed.close();
  open_.add(30);
  closed.add(-60);
  open_.add(70);
  expect(lost).toEqual([]);
  open_.add(1);
  expect(lost.length).toBe(1);
});

it("[BL-346] one that has no time to lose more at once loses the rest with what is added next", () => {
  const budget = new SharedBudget(100, 50);
  let lost = 0;
  const share = budget.open("10.0.0.1", () => {
    lost++;
    share.add(-1);
  });
  share.add(110);
  expect(lost).toBe(1);
  share.add(1);
  expect(lost).toBe(2);
});

it("[BL-346] what those have that are being ended is held until they return it, and nobody else loses for it", () => {
  const budget = new SharedBudget(160, 10);
  const lost: string[] = [];
  const open = (name: string) => {
    const share = budget.open("10.0.0.1", () => {
      lost.push(name);
      share.leave();
    });
    return share;
  };
  const [large, small] = [open("large"), open("small")];
  large.add(100);
  small.add(70);
  small.add(30);
  expect([lost, budget.isScarce]).toEqual([["large"], true]);
  large.add(-100);
  large.close();
  small.add(10);
  expect([lost, budget.isScarce]).toEqual([["large"], false]);
});

it("[BL-346] requests of a connection that is ended for them are held until it is closed", () => {
  const budget = new SharedBudget(160_000, 10_000);
  const ended: string[] = [];
  const [one, two] = ["one", "two"].map((name) => new HeldRequests(budget, "10.0.0.1", () => void ended.push(name)));
  one?.unparsed(100_000);
  two?.unparsed(70_000);
  expect([ended, two?.isScarce]).toEqual([["one"], true]);
  one?.close();
  expect([ended, two?.isScarce]).toEqual([["one"], false]);
});
