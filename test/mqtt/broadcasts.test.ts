import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { ClusterLink } from "../../servers/mqtt/engine/cluster-link.ts";
import { unsubscribe } from "../../servers/mqtt/engine/connection/subscribe-flow.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import type { Session } from "../../servers/mqtt/engine/session/session.ts";
import { publishPacket, startBroker } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const many = 1_000;

async function startWithSubscribers(qos: 0 | 1, cluster?: ClusterLink) {
  const { engine, bystander } = await startEngine({ cluster });
  const subscribers = Array.from({ length: many }, (_, index) => new MemoryClient(engine, `subscriber ${index}`));
  for (const subscriber of subscribers) subscriber.subscribe("t", qos);
  await expect.poll(() => subscribers.every(({ received }) => received.at(-1)?.type === "suback")).toBe(true);
  const payloadsOf = ({ received }: MemoryClient) =>
    received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : []));
  /** How many have got so many messages. */
  const served = (messages = 1) => subscribers.filter((subscriber) => payloadsOf(subscriber).length >= messages).length;
  return { engine, bystander, subscribers, payloadsOf, served };
}

const messageOf = (payload: string, qos: 0 | 1 = 0) => new Message({ topic: "t", payload: Buffer.from(payload), qos, retain: false });

describe("[MQTT-442] a message for thousands is delivered over several turns of the event loop", () => {
  it.each([0, 1] as const)("of a client, in order, and acknowledged when all have it, QoS %s", async (qos) => {
    const { engine, bystander, subscribers, payloadsOf, served } = await startWithSubscribers(qos);
    const publisher = new MemoryClient(engine, "publisher");
    await expect.poll(() => publisher.received.length).toBe(1);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const packetId of [1, 2]) publisher.send({ ...publishPacket("t", String(packetId)), qos: 1, packetId });
    bystander.send({ type: "pingreq" });
    while (bystander.received.at(-1)?.type !== "pingresp") await setImmediate();
    expect(served()).toBeLessThan(many);
    expect(publisher.received).toHaveLength(1);
    turn.mockRestore();
    await expect.poll(() => publisher.received.slice(1).map((packet) => packet.type === "puback" && packet.reason)).toEqual([0, 0]);
    await expect.poll(() => served(2)).toBe(many);
    for (const subscriber of subscribers) expect(payloadsOf(subscriber)).toEqual(["1", "2"]);
  });

  it("also when its publisher has left meanwhile; who has unsubscribed or left gets no more", async () => {
    const { engine, subscribers, payloadsOf, served } = await startWithSubscribers(0);
    const publisher = new MemoryClient(engine, "publisher");
    await expect.poll(() => publisher.received.length).toBe(1);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    publisher.send(publishPacket("t", "1"));
    // One that has not begun would not be delivered.
    while (served() === 0) await setImmediate();
    expect(served()).toBeLessThan(many);
    publisher.connection.cutOff("lost");
    const last = subscribers.at(-1) as MemoryClient;
    const given = payloadsOf(last).length;
    last.connection.cutOff("lost");
    turn.mockRestore();
    await expect.poll(() => served()).toBe(many - 1 + given);
    expect(payloadsOf(last)).toHaveLength(given);
    expect(engine.scheduler.works).toBe(0);
  });

  it("of many clients some have begun at a time, and no more when they have left", async () => {
    const { engine, served, bystander } = await startWithSubscribers(0);
    let begun = 0;
    engine.observer.published = () => void begun++;
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(false);
    const publishers = Array.from({ length: 30 }, (_, index) => new MemoryClient(engine, `publisher ${index}`));
    turn.mockImplementation((parts = 1) => parts === 1);
    for (const publisher of publishers) publisher.send(publishPacket("t", "1"));
    expect(begun).toBe(8);
    for (const { connection } of publishers.slice(0, 10)) connection.cutOff("lost");
    bystander.send({ type: "pingreq" });
    while (bystander.received.at(-1)?.type !== "pingresp") await setImmediate();
    expect(served(8)).toBeLessThan(many);
    turn.mockRestore();
    // All but two that had not begun.
    await expect.poll(() => served(28)).toBe(many);
    expect(begun).toBe(28);
  });

  it("of the broker itself, in order, also if few have subscribed to a later one; and before a stop", async () => {
    const { engine, subscribers, payloadsOf, served } = await startWithSubscribers(0);
    const routed: Message[] = [];
    engine.observer.routed = (message) => void routed.push(message);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(true);
    const messages = ["1", "2", "3"].map((payload) => messageOf(payload));
    engine.publishInternal(messages[0] as Message);
    engine.publishInternal(messages[1] as Message);
    for (const { connection } of subscribers.slice(100)) unsubscribe(engine, connection.session as Session, "t");
    engine.publishInternal(messages[2] as Message);
    expect([served(), routed.length, engine.broadcasts.isIdle, engine.departures.isIdle]).toEqual([0, 0, false, false]);
    turn.mockRestore();
    await expect.poll(() => engine.broadcasts.isIdle).toBe(true);
    await expect.poll(() => served(3)).toBe(100);
    for (const subscriber of subscribers.slice(0, 100)) expect(payloadsOf(subscriber)).toEqual(["1", "2", "3"]);
    expect(routed).toEqual(messages);
    expect(messages.every(({ isRouted }) => isRouted)).toBe(true);
  });

  it("wills come one after the other, and clients whose messages are answered wait for the answers", async () => {
    const { engine, served } = await startWithSubscribers(0);
    const will = (number: number) => ({ topic: "t", payload: Buffer.from(`will ${number}`), qos: 0 as const, retain: false });
    const gone = Array.from(
      { length: 5 },
      (_, number) => new MemoryClient(engine, `gone ${number}`, { will: { ...will(number), properties: undefined } }),
    );
    const asking = new MemoryClient(engine, "asking");
    await expect.poll(() => engine.clients.size).toBe(many + 7);
    let largest = 0;
    const { add } = engine.broadcasts;
    let waiting = 0;
    vi.spyOn(engine.broadcasts, "add").mockImplementation((topic, deliveries) => {
      waiting++;
      largest = Math.max(largest, waiting);
      const counted = {
        next: () => {
          const step = deliveries.next();
          if (step.done) waiting--;
          return step;
        },
      };
      add.call(engine.broadcasts, topic, counted);
    });
    for (const { connection } of gone) connection.cutOff("lost");
    await expect.poll(() => served(5)).toBe(many);
    expect(largest).toBe(1);
    engine.bus.onMessage((message) => {
      if (message.topic !== "ask") return;
      engine.publishInternal(messageOf("answer"));
      message.answerSteps++;
    });
    for (let count = 0; count < 20; count++) asking.send(publishPacket("ask", ""));
    await expect.poll(() => served(25), { timeout: 20_000 }).toBe(many);
    expect(largest).toBe(1);
  });

  it("its count of receivers is known when all have it", async () => {
    const broker = await startBroker();
    expect(await broker.act("publish", { topic: "t" })).toEqual({ matched: 0 });
    const { engine } = await startWithSubscribers(0);
    const message = messageOf("x");
    vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValueOnce(true);
    engine.publishInternal(message);
    expect(message.isRouted).toBe(false);
    await new Promise<void>((resolve) => engine.broadcasts.whenIdle(resolve));
    expect([message.isRouted, message.matched]).toEqual([true, many]);
  });
});

it("[MQTT-473] in a cluster a message for thousands is delivered over several turns; one that sessions keep when it comes back from the journal", async () => {
  const shared: string[] = [];
  const journal: Message[] = [];
  const cluster: ClusterLink = {
    gate: (transport) => transport,
    isBehind: false,
    whenCaughtUp: (resume) => resume(),
    bring: async () => true,
    settled() {},
    opened() {},
    ended() {},
    memberChanged() {},
    journalFirst(message) {
      message.comesBack = true;
      journal.push(message);
      return true;
    },
    routeShared: ({ payload }) => void shared.push(payload.toString()),
    hasConnectedMemberElsewhere: () => false,
    handOn: () => false,
  };
  const { engine, subscribers, payloadsOf, served } = await startWithSubscribers(1, cluster);
  const publisher = new MemoryClient(engine, "publisher");
  await expect.poll(() => publisher.received.length).toBe(1);
  const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
  publisher.send(publishPacket("t", "of a client"));
  engine.publishInternal(messageOf("of the broker"));
  // Whose groups get it is said to the other brokers with the message.
  expect(shared).toContain("of the broker");
  expect(engine.broadcasts.isIdle).toBe(false);
  expect(served(2)).toBeLessThan(many);
  turn.mockRestore();
  await expect.poll(() => served(2)).toBe(many);
  for (const subscriber of subscribers) expect(payloadsOf(subscriber).toSorted()).toEqual(["of a client", "of the broker"]);

  for (const packetId of [1, 2]) publisher.send({ ...publishPacket("t", `kept ${packetId}`), qos: 1, packetId });
  await setImmediate();
  expect([journal.length, served(3), publisher.received.length]).toEqual([1, 0, 1]);
  const later = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
  engine.deliverBack(journal[0] as Message);
  await setImmediate();
  expect([engine.broadcasts.isIdle, served(3) < many, publisher.received.length]).toEqual([false, true, 1]);
  // Groups come last, in the commit that says that all have it.
  expect(shared).not.toContain("kept 1");
  later.mockRestore();
  await expect.poll(() => publisher.received.slice(1).map(({ type }) => type)).toEqual(["puback"]);
  expect([served(3), shared.at(-1)]).toEqual([many, "kept 1"]);
  await expect.poll(() => journal.length).toBe(2);
  engine.deliverBack(journal[1] as Message);
  await expect.poll(() => publisher.received.slice(1).map(({ type }) => type)).toEqual(["puback", "puback"]);
  for (const subscriber of subscribers) expect(payloadsOf(subscriber).slice(2)).toEqual(["kept 1", "kept 2"]);

  const own = messageOf("of the broker, kept", 1);
  engine.publishInternal(own);
  const routed = engine.broadcasts.delivered(own);
  expect(served(5)).toBe(0);
  engine.deliverBack(own);
  await routed;
  expect(own.matched).toBe(many);
  await expect.poll(() => served(5)).toBe(many);
});
