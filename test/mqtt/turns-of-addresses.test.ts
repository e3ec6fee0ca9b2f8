import { expect, it } from "vitest";
import { FlushScheduler } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { AwaySessions } from "../../servers/mqtt/engine/session/away-sessions.ts";
import type { Session } from "../../servers/mqtt/engine/session/session.ts";

it("[MQTT-558] addresses for whose sessions something is due take turns, each in the order in which it came due", () => {
  const away = new AwaySessions();
  const dueAt = (name: string, address: string, willDueAt: number) => {
    const sizes = { heldBytes: 1, subscriptionBytes: 1 };
    const session = { clientId: name, address, willDueAt, disconnectedAt: 0, expirySeconds: 1_000, ...sizes } as unknown as Session;
    away.add(session);
    return session;
  };
  for (let number = 0; number < 5; number++) dueAt(`a${number}`, "a", 10 + number);
  dueAt("b0", "b", 30);
  dueAt("b1", "b", 40);
  const left = dueAt("c0", "c", 1);
  dueAt("c1", "c", 35);
  dueAt("late", "d", 500);
  away.delete(left);
  const order: string[] = [];
  for (let now = 100; now < 120; now++) {
    const session = away.nextDue(now);
    if (session) order.push(session.clientId);
    // It has nothing more to do until its session is over.
    if (session) away.refresh(Object.assign(session, { willDueAt: 0 }));
  }
  expect(order.length).toBe(8);
  expect(order.slice(0, 3)).toEqual(["a0", "b0", "c1"]);
  expect(order.slice(3, 5).sort()).toEqual(["a1", "b1"]);
  expect(order.filter((name) => name.startsWith("a"))).toEqual(["a0", "a1", "a2", "a3", "a4"]);
});

it("[MQTT-559] those that wait for their turn go on while CONNECTs, and connections that are accepted, use up each turn", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const resumed: string[] = [];
  const wait = (line: "fresh" | "usual", address: string) => {
    const resume = () => {
      resumed.push(line);
      now += 5;
    };
    scheduler.whenWritten(resume, line, address);
  };
  for (let count = 0; count < 40; count++) wait("fresh", "a");
  for (let count = 0; count < 3; count++) wait("usual", "b");
  while (resumed.filter((line) => line === "usual").length < 3) {
    scheduler.accepted();
    await new Promise((resolve) => setImmediate(resolve));
    now += 1;
  }
  expect(resumed).toEqual(["fresh", "usual", "fresh", "usual", "fresh", "usual"]);
});
