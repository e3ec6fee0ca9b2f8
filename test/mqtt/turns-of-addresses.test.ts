import { expect, it } from "vitest";
import type { ClusterLink } from "../../servers/mqtt/engine/cluster-link.ts";
import { FlushScheduler } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { AwaySessions } from "../../servers/mqtt/engine/session/away-sessions.ts";
import type { Session } from "../../servers/mqtt/engine/session/session.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

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

it("[MQTT-560] a client whose session has a will that is due is accepted when there is room for that in Redis, and a client without one at once", async () => {
  const waiting: (() => void)[] = [];
  const cluster = {
    gate: (transport) => transport,
    isBehind: false,
    whenCaughtUp: (resume) => void waiting.push(resume),
    bring: async () => true,
    settled() {},
    opened() {},
    ended() {},
    memberChanged() {},
    journalFirst: () => false,
    routeShared() {},
    hasConnectedMemberElsewhere: () => false,
    handOn: () => false,
  } satisfies ClusterLink as { -readonly [Name in keyof ClusterLink]: ClusterLink[Name] };
  const published: string[] = [];
  const { engine } = await startEngine({ cluster, observer: { published: ({ topic }) => void published.push(topic) } });
  const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
  const will = { topic: "will", payload: Buffer.from("x"), qos: 1, retain: false } as const;
  const before = new MemoryClient(engine, "c", { ...kept, will });
  await expect.poll(() => before.received.length).toBe(1);
  cluster.isBehind = true;
  before.connection.cutOff("The connection was lost.");
  const other = new MemoryClient(engine, "d", kept);
  const after = new MemoryClient(engine, "c", kept);
  await expect.poll(() => other.received.length).toBe(1);
  expect([after.received, published]).toEqual([[], []]);
  cluster.isBehind = false;
  for (const resume of waiting.splice(0)) resume();
  await expect.poll(() => after.received.length).toBe(1);
  await expect.poll(() => published).toEqual(["will"]);
});
