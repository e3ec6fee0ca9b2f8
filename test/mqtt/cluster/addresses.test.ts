import { expect, it, vi } from "vitest";
import { Backlog } from "../../../servers/mqtt/cluster/backlog.ts";
import { encodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { Incoming } from "../../../servers/mqtt/cluster/incoming.ts";
import { type Claimed, SessionAdoption } from "../../../servers/mqtt/cluster/session-adoption.ts";
import { type OwnershipOptions, SessionOwnership } from "../../../servers/mqtt/cluster/session-ownership.ts";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";

const clientOf = (key: string, hasLeft = () => false) => ({ key, hasLeft });
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

it("[MQTT-555] addresses whose clients wait for Redis take turns, and those that have left take no place", async () => {
  let isAbove = true;
  const backlog = new Backlog({
    sentBytes: () => 0,
    untakenBytes: () => (isAbove ? 1_000_000 : 0),
    brokers: () => 1,
    isConnected: () => true,
    positions: () => Promise.resolve([]),
  });
  const resumed: string[] = [];
  for (let number = 0; number < 100; number++)
    backlog.whenBelow(
      () => resumed.push(`gone ${number}`),
      clientOf("a", () => true),
    );
  for (let number = 0; number < 100; number++) backlog.whenBelow(() => resumed.push(`a ${number}`), clientOf("a"));
  for (let number = 0; number < 3; number++) backlog.whenBelow(() => resumed.push(`b ${number}`), clientOf("b"));
  backlog.whenBelow(() => resumed.push("broker"));
  isAbove = false;
  backlog.taken();
  isAbove = true;
  const stays = resumed.filter((name) => !name.startsWith("gone"));
  expect(stays.length).toBeLessThan(15);
  expect(stays.filter((name) => !name.startsWith("a "))).toEqual(["b 0", "broker", "b 1", "b 2"]);
  expect(resumed.indexOf("b 2")).toBeLessThan(10);
  expect(stays.filter((name) => name.startsWith("a "))).toEqual(stays.slice(4).map((_, index) => `a ${index}`));
  backlog.clear();
  expect(resumed.length).toBe(204);
});

it("[MQTT-521] a delivery that a session keeps counts as ten", () => {
  const counted: number[] = [];
  let kept = 100;
  const incoming = new Incoming({
    onEntry: (entry) => {
      if (entry.type !== "message") return;
      entry.message.matched = 50;
      kept += Number(entry.message.topic);
    },
    onFrame: () => {},
    onBroken: () => {},
    onFault: (error) => expect.unreachable(String(error)),
    kept: () => kept,
    waitsForRedis: () => false,
    scheduler: () => ({ isTurnOver: () => false, whenWritten: (resume) => resume() }),
    broadcasts: () => ({ isIdle: true, whenIdle: (act: () => void) => act() }),
    arrears: { received: () => {}, applied: (_from, _bytes, deliveries) => counted.push(deliveries), clear: () => {} },
  });
  incoming.release();
  for (const [index, topic] of ["0", "1", "20", "0"].entries()) {
    const message = new Message({ topic, payload: Buffer.alloc(0), qos: 1, retain: false });
    const entries = [{ type: "message" as const, message, routed: true, kept: false }];
    incoming.receive(`${index + 1}-0`, encodeFrame({ from: "other", seq: index + 1, entries }));
  }
  expect(counted.filter((deliveries) => deliveries > 0)).toEqual([49, 49, 49 + 19 * 9, 49]);
});

/** Claims of sessions that Redis answers one by one. */
function openOwnership() {
  const claims: { readonly clientId: string; readonly answer: () => void }[] = [];
  const parts = {
    ...{ isConnected: true, comingBack: undefined, brokerId: "me", note: () => {}, flush: () => {} },
    log: { error: (text: string) => expect.unreachable(text), warning: () => {} },
    engine: { sessions: new Map() },
    scripts: {
      term: 1,
      run: (_name: string, _broker: string, [clientId]: readonly string[]) =>
        new Promise((resolve) => {
          claims.push({ clientId: clientId ?? "", answer: () => resolve([Buffer.from("mine"), Buffer.from(""), []]) });
        }),
    },
  };
  const ownership = new SessionOwnership({ parts, patienceMs: 60_000, mayBury: () => false } as unknown as OwnershipOptions);
  return { ownership, claims };
}

it("[MQTT-556] of the clients of an address some have their sessions fetched at a time, in order; those of others do not wait for them", async () => {
  const { ownership, claims } = openOwnership();
  const brought: string[] = [];
  const bring = (clientId: string, key: string) => void ownership.bring(clientId, false, clientOf(key)).then(() => brought.push(clientId));
  for (let number = 0; number < 100; number++) bring(`a${number}`, "a");
  await settle();
  const atOnce = claims.length;
  expect(atOnce).toBeLessThan(50);
  bring("b", "b");
  await settle();
  expect(claims.slice(atOnce).map(({ clientId }) => clientId)).toEqual(["b"]);
  while (brought.length < 101) {
    expect(claims.length).toBeLessThanOrEqual(atOnce + 1);
    for (const { answer } of claims.splice(0)) answer();
    await settle();
  }
  expect(brought.filter((name) => name !== "b")).toEqual(Array.from({ length: 100 }, (_, number) => `a${number}`));
});

it("[MQTT-556] nothing is asked for a client that has left before its session is fetched", async () => {
  const { ownership, claims } = openOwnership();
  let brought = 0;
  const names = Array.from({ length: 100 }, (_, number) => `a${number}`);
  for (const name of names) void ownership.bring(name, false, clientOf("a")).then(() => brought++);
  await settle();
  const atOnce = claims.length;
  for (const name of names) if (name !== "a99") ownership.settled(name);
  for (const { answer } of claims.splice(0)) answer();
  await settle();
  expect(atOnce).toBeLessThan(50);
  expect(claims.map(({ clientId }) => clientId)).toEqual(["a99"]);
  for (const { answer } of claims.splice(0)) answer();
  await settle();
  expect(brought).toBe(100);
});

it("[MQTT-557] sessions of many values are opened some at a time, and the addresses of their clients take turns", async () => {
  const batches: string[][] = [];
  let goOn = () => {};
  const spy = vi.spyOn(SessionAdoption.prototype as unknown as { adoptAll(claims: readonly Claimed[]): Promise<void> }, "adoptAll");
  spy.mockImplementation((claims) => {
    batches.push(claims.map(({ clientId }) => clientId));
    return new Promise((resolve) => {
      goOn = resolve;
    });
  });
  const adoption = new SessionAdoption({} as never);
  const opened: string[] = [];
  const adopt = (clientId: string, key: string) => {
    const claim = { clientId, values: Array.from({ length: 4_000 }, () => Buffer.alloc(0)), term: 1, brokerId: "me" };
    void adoption.adopt([claim], key).then(() => opened.push(clientId));
  };
  for (let number = 0; number < 12; number++) adopt(`a${number}`, "a");
  adopt("b", "b");
  for (; opened.length < 13; await settle()) goOn();
  spy.mockRestore();
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThan(5);
  expect(batches.slice(0, 2).flat()).toContain("b");
  expect(opened.filter((name) => name !== "b")).toEqual(Array.from({ length: 12 }, (_, number) => `a${number}`));
});
