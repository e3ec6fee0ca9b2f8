import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { Qos } from "../../servers/mqtt/codec/packet.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { recheckInSteps } from "../../servers/mqtt/engine/session/recheck-session.ts";
import { connectWire, publishPacket, startBroker, type Version, versions, type WireClient } from "./harness.ts";
import { isOverForMost, MemoryClient, startEngine } from "./memory-client.ts";

const count = 300;

/** Acknowledges what comes until each number came; gives the numbers by QoS, in the order of coming. */
async function takeAll(client: WireClient, seen: number[][], until: number): Promise<void> {
  while (seen.flat().length < until) {
    const packet = await client.next();
    if (!packet) throw new Error("closed");
    if (packet.type === "pubrel") client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
    if (packet.type !== "publish") continue;
    (seen[packet.qos] as number[]).push(Number(packet.payload.toString()));
    if (packet.qos === 1) client.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    if (packet.qos === 2) client.send({ type: "pubrec", packetId: packet.packetId, reason: 0 });
  }
}

async function publishMixed(client: WireClient, first: number): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const qos = (number % 3) as Qos;
    client.publish("t", String(number), { qos, packetId: qos === 0 ? 0 : number + 1 });
    if (qos === 2) client.send({ type: "pubrel", packetId: number + 1, reason: 0 });
  }
  client.send({ type: "pingreq" });
  for (let packet = await client.next(); packet?.type !== "pingresp"; packet = await client.next());
}

const ofQos = (qos: number, first: number) =>
  Array.from({ length: count }, (_, index) => first + index).filter((number) => number % 3 === qos);

const kept = (version: Version) => ({
  clientId: "s",
  cleanStart: false,
  ...(version === 5 && { properties: { sessionExpiryInterval: 60, receiveMaximum: 7 } }),
});

describe("order", () => {
  it.each(versions)(
    "[MQTT-87] messages of one client on one topic with one QoS arrive in order, through a full window, version %s",
    async (version) => {
      const broker = await startBroker({ inflightMessages: 5 });
      const subscriber = await connectWire(broker, version);
      await subscriber.subscribe("t", { qos: 2 });
      const publisher = await connectWire(broker, version);
      const got: number[][] = [[], [], []];
      await Promise.all([publishMixed(publisher, 0), takeAll(subscriber, got, count)]);
      expect(got).toEqual([0, 1, 2].map((qos) => ofQos(qos, 0)));
    },
  );

  it.each(versions)("[MQTT-87] and after an absence, queued messages arrive before new ones, version %s", async (version) => {
    const broker = await startBroker({ inflightMessages: 5 });
    const first = await connectWire(broker, version, kept(version));
    await first.subscribe("t", { qos: 2 });
    first.send({ type: "disconnect", reason: 0 });
    await first.expectClose();
    const publisher = await connectWire(broker, version);
    await publishMixed(publisher, 0);
    const second = await connectWire(broker, version, kept(version));
    const got: number[][] = [[], [], []];
    const waited = (count * 2) / 3;
    await Promise.all([publishMixed(publisher, count), takeAll(second, got, waited + count)]);
    expect(got).toEqual([ofQos(0, count), [...ofQos(1, 0), ...ofQos(1, count)], [...ofQos(2, 0), ...ofQos(2, count)]]);
  });

  it("[MQTT-87] a retained message arrives before messages published after the subscription", async () => {
    const broker = await startBroker({ inflightMessages: 1 });
    const publisher = await connectWire(broker, 5);
    for (const topic of ["a", "b"]) publisher.publish(topic, "0", { retain: true, qos: 1, packetId: 1 });
    await publisher.expect("puback");
    await publisher.expect("puback");
    const subscriber = await connectWire(broker, 5);
    await subscriber.subscribe("#", { qos: 1 });
    for (const topic of ["a", "b"]) await broker.act("publish", { topic, qos: 1, payload: "1" });
    const got: string[] = [];
    for (let taken = 0; taken < 4; taken++) {
      const { topic, payload, packetId } = await subscriber.expect("publish");
      got.push(`${topic}${payload}`);
      subscriber.send({ type: "puback", packetId, reason: 0 });
    }
    expect(got).toEqual(["a0", "b0", "a1", "b1"]);
  });

  const numbered = (bytes: number, number: number) => Buffer.alloc(bytes, number);

  /** Gives the first byte of each message, in the order of coming; acknowledges. */
  async function takeNumbers(client: WireClient, until: number): Promise<number[]> {
    const seen: number[] = [];
    while (seen.at(-1) !== until) {
      const packet = await client.next();
      if (!packet) throw new Error("closed");
      if (packet.type !== "publish") continue;
      seen.push(packet.payload.readUInt8(0));
      if (packet.qos === 1) client.send({ type: "puback", packetId: packet.packetId, reason: 0 });
      if (packet.qos === 2) client.send({ type: "pubrec", packetId: packet.packetId, reason: 0 });
    }
    return seen;
  }

  it.each([0, 1, 2] as const)(
    "[MQTT-241] subscribers that read lose none of many large messages, in any mixture with small ones, while others are served, QoS %s",
    async (qos) => {
      const broker = await startBroker();
      const subscribers = await Promise.all(Array.from({ length: 30 }, (_, index) => connectWire(broker, versions[index % 2] as Version)));
      await Promise.all(subscribers.map((subscriber) => subscriber.subscribe("large", { qos })));
      const [publisher, second, bystander] = [await connectWire(broker, 4), await connectWire(broker, 5), await connectWire(broker, 4)];
      const last = 20;
      const reading = subscribers.map((subscriber) => takeNumbers(subscriber, last));
      for (let number = 1; number <= last; number++) {
        const payload = numbered(number % 4 === 0 ? 10 : 100_000, number);
        publisher.publish("large", "", { payload, qos, packetId: qos === 0 ? 0 : number });
        // Of another publisher, with properties of its own.
        if (number % 5 === 0) second.publish("large", "", { payload: numbered(90_000, 100), properties: { messageExpiryInterval: 60 } });
      }
      bystander.send({ type: "pingreq" });
      expect(await bystander.next()).toMatchObject({ type: "pingresp" });
      for (const seen of await Promise.all(reading)) {
        expect(seen.filter((number) => number < 100)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      }
    },
  );

  it("[MQTT-241] clients that come, leave or share a subscription meanwhile get whole messages, each once", async () => {
    const broker = await startBroker();
    const subscribers = await Promise.all(Array.from({ length: 40 }, () => connectWire(broker, 5)));
    await Promise.all(subscribers.map((subscriber) => subscriber.subscribe("large", { qos: 1 })));
    const shared = await Promise.all([connectWire(broker, 5), connectWire(broker, 5)]);
    for (const member of shared) await member.subscribe("$share/pair/large", { qos: 1 });
    const publisher = await connectWire(broker, 5);
    const last = 12;
    const send = (number: number) =>
      publisher.publish("large", "", { payload: numbered(100_000, number), qos: 1, packetId: number, retain: number === last });
    for (let number = 1; number <= last / 2; number++) send(number);
    await publisher.expect("puback");
    const [leaving, cut, ...staying] = subscribers;
    const reading = staying.map((subscriber) => takeNumbers(subscriber, last));
    leaving?.send({ type: "disconnect", reason: 0 });
    cut?.destroy();
    const late = await connectWire(broker, 5);
    await late.subscribe("large", { qos: 1 });
    for (let number = last / 2 + 1; number <= last; number++) send(number);
    const all = Array.from({ length: last }, (_, index) => index + 1);
    for (const seen of await Promise.all(reading)) expect(seen).toEqual(all);
    const seenLate = await takeNumbers(late, last);
    expect(seenLate).toEqual(all.slice(-seenLate.length));
    await expect.poll(() => shared.flatMap(({ received }) => received.filter(({ type }) => type === "publish")).length).toBe(last);
    const numbers = shared.flatMap(({ received }) => received.flatMap((packet) => (packet.type === "publish" ? packet.payload[0] : [])));
    expect(numbers.toSorted((a = 0, b = 0) => a - b)).toEqual(all);
    const after = await connectWire(broker, 4);
    await after.subscribe("large");
    expect(await takeNumbers(after, last)).toEqual([last]);
  });

  it("[MQTT-242] so is one whose messages need a long search for subscriptions each", async () => {
    const { engine, bystander } = await startEngine();
    const subscriber = new MemoryClient(engine, "subscriber");
    const levels = Array.from({ length: 60 }, () => "a");
    for (let first = 0; first < 40; first++) {
      for (let second = 0; second < 40; second++) subscriber.subscribe(`${levels.with(first, "+").with(second, "+").join("/")}/${first}/z`);
    }
    const publisher = new MemoryClient(engine, "publisher");
    await expect.poll(() => publisher.received.length).toBe(1);
    const count = 500;
    const topics = Array.from({ length: count }, (_, number) => encodePacket(publishPacket(`${levels.join("/")}/${number}`, ""), 5));
    publisher.connection.receive(Buffer.concat(topics));
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
    expect(publisher.connection.messagesIn).toBeLessThan(count);
    await expect.poll(() => publisher.connection.messagesIn).toBe(count);
  });

  it("[MQTT-242] a client that comes back gets what waits for it over several turns, and newer messages after it", async () => {
    const { engine, bystander } = await startEngine();
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const before = new MemoryClient(engine, "away", kept);
    before.subscribe("t", 1);
    // On a slow machine they wait for their turn.
    await expect.poll(() => before.received.at(-1)?.type).toBe("suback");
    before.connection.cutOff("The connection was lost.");
    const publish = (number: number) =>
      engine.publishInternal(new Message({ topic: "t", payload: Buffer.from(String(number)), qos: 1, retain: false }));
    for (let number = 0; number < 500; number++) publish(number);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    const back = new MemoryClient(engine, "away", kept);
    publish(500);
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type).toBe("pingresp");
    const payloads = () => back.received.flatMap((packet) => (packet.type === "publish" ? Number(packet.payload.toString()) : []));
    expect(payloads().length).toBeLessThan(100);
    turn.mockRestore();
    await expect.poll(payloads).toEqual(Array.from({ length: 501 }, (_, number) => number));
  });

  it("[MQTT-242] packets with thousands of filters from many clients take turns, and who sends little does not wait for them", async () => {
    const { engine, bystander } = await startEngine();
    const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const subscriptions = Array.from({ length: 5_000 }, (_, index) => ({ filter: `a/${index}/+`, ...options }));
    const packet = encodePacket({ type: "subscribe", packetId: 1, subscriptions }, 5);
    const clients = Array.from({ length: 20 }, (_, index) => new MemoryClient(engine, `client ${index}`));
    await expect.poll(() => clients.every(({ received }) => received.length === 1)).toBe(true);
    for (const { connection } of clients) connection.receive(packet);
    bystander.send({ type: "pingreq" });
    const served = () => clients.filter(({ connection }) => (connection.session?.subscriptions.size ?? 0) > 0).length;
    expect(served()).toBeGreaterThan(0);
    while (bystander.received.at(-1)?.type !== "pingresp") await setImmediate();
    expect(served()).toBeLessThan(clients.length);
    await expect.poll(() => clients.every(({ received }) => received.at(-1)?.type === "suback"), { timeout: 10_000 }).toBe(true);
  });

  it("[MQTT-316] clients whose messages are much to route take turns, however little they send, and others do not wait for them", async () => {
    const routed: string[] = [];
    const { engine } = await startEngine({ observer: { published: ({ topic }) => void routed.push(topic) } });
    const match = engine.trie.match.bind(engine.trie);
    vi.spyOn(engine.trie, "match").mockImplementation((topic) => {
      const found = match(topic);
      engine.trie.visited = topic.startsWith("much") ? 100_000 : 1;
      return found;
    });
    const clients = Array.from({ length: 20 }, (_, index) => new MemoryClient(engine, `client ${index}`));
    const [other, another] = [new MemoryClient(engine, "other"), new MemoryClient(engine, "another")];
    await expect.poll(() => engine.clients.size).toBe(23);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(false);
    for (const client of clients) client.send(publishPacket("much", ""));
    turn.mockImplementation((parts = 1) => parts === 1);
    for (let round = 0; round < 2; round++) for (const client of clients) client.send(publishPacket("much again", ""));
    other.send(publishPacket("large", "x".repeat(5_000)));
    another.send(publishPacket("little", ""));
    expect(routed.slice(clients.length)).toEqual(["little"]);
    turn.mockReturnValue(true);
    another.send(publishPacket("late", ""));
    another.send({ type: "pingreq" });
    expect(routed.slice(clients.length)).toEqual(["little"]);
    await expect.poll(() => routed.filter((topic) => topic === "much again")).toHaveLength(40);
    turn.mockRestore();
    await expect.poll(() => routed.filter((topic) => topic === "large" || topic === "late")).toEqual(["large", "late"]);
  });

  it("[MQTT-440] of thousands that publish one after the other some wait for their turn, and who has published nothing lately does not", async () => {
    const routed: string[] = [];
    const { engine, bystander } = await startEngine({ observer: { published: ({ topic }) => void routed.push(topic) } });
    const [busy, calm] = [new MemoryClient(engine, "busy"), new MemoryClient(engine, "calm")];
    await expect.poll(() => engine.clients.size).toBe(3);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(isOverForMost);
    for (const topic of ["busy 1", "busy 2"]) busy.send(publishPacket(topic, ""));
    expect(routed).toEqual(["busy 1", "busy 2"]);
    const crowd = vi.spyOn(engine.scheduler, "isCrowded", "get").mockReturnValue(true);
    busy.send(publishPacket("busy 3", ""));
    calm.send(publishPacket("calm", ""));
    busy.send({ type: "pingreq" });
    bystander.send({ type: "pingreq" });
    expect(routed.slice(2)).toEqual(["calm"]);
    await expect.poll(() => bystander.received.at(-1)?.type).toBe("pingresp");
    crowd.mockRestore();
    turn.mockRestore();
    await expect.poll(() => busy.received.at(-1)?.type).toBe("pingresp");
    expect(routed.slice(2)).toEqual(["calm", "busy 3"]);
  });

  it("[MQTT-441] packets with thousands of properties are as much work as many packets: each of a client has its turn", async () => {
    const { engine } = await startEngine();
    const client = new MemoryClient(engine, "client");
    await expect.poll(() => engine.clients.size).toBe(2);
    const userProperties = Array.from({ length: 9_000 }, () => ["", ""] as const);
    const packet = encodePacket({ ...publishPacket("t", ""), properties: { userProperties } }, 5);
    let asked = 0;
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(() => ++asked > 2);
    client.connection.receive(Buffer.concat([packet, packet, packet]));
    expect(client.connection.messagesIn).toBe(1);
    turn.mockRestore();
    await expect.poll(() => client.connection.messagesIn).toBe(3);
  });

  it("[MQTT-440] a ping comes before the messages of clients that wait, also of new ones, and brings nothing else with it", async () => {
    const routed: string[] = [];
    const { engine, bystander } = await startEngine({ observer: { published: ({ topic }) => void routed.push(topic) } });
    const clients = Array.from({ length: 20 }, (_, index) => new MemoryClient(engine, `client ${index}`));
    const sly = new MemoryClient(engine, "sly");
    await expect.poll(() => engine.clients.size).toBe(22);
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(true);
    for (const client of clients) client.send(publishPacket("first", ""));
    sly.connection.receive(Buffer.concat([encodePacket({ type: "pingreq" }, 5), encodePacket(publishPacket("sly", ""), 5)]));
    bystander.send({ type: "pingreq" });
    // Two may go on, and no more.
    let asked = 0;
    turn.mockImplementation((parts) => parts !== undefined || ++asked > 2);
    engine.scheduler.flush();
    turn.mockReturnValue(true);
    engine.scheduler.flush();
    // One of those that wait in each of the two turns (MQTT-559).
    expect([routed, bystander.received.at(-1)?.type, sly.received.at(-1)?.type]).toEqual([["first", "first"], "pingresp", "pingresp"]);
    turn.mockRestore();
    await expect.poll(() => routed.length).toBe(21);
  });

  it("[MQTT-460] the filters of a session that goes on are compared with the rights of its client over several turns", async () => {
    let mayAll = true;
    const access = {
      restricts: true,
      hiddenFrom: () => undefined,
      maySubscribe: (_: unknown, filter: string) => mayAll || filter.startsWith("a/"),
    };
    const { engine, bystander } = await startEngine({ access });
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const options = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    const subscriptions = Array.from({ length: 2_000 }, (_, index) => ({ filter: `${index % 2 === 0 ? "a" : "b"}/${index}`, ...options }));
    const before = new MemoryClient(engine, "kept", kept);
    before.send({ type: "subscribe", packetId: 1, subscriptions });
    await expect.poll(() => before.received.at(-1)?.type).toBe("suback");
    mayAll = false;
    let asked = 0;
    const turn = vi.spyOn(engine.scheduler, "isTurnOver").mockImplementation(() => ++asked % 3 === 0);
    const back = new MemoryClient(engine, "kept", { ...kept, username: "other" });
    while (!before.ended) await setImmediate();
    bystander.send({ type: "pingreq" });
    while (bystander.received.at(-1)?.type !== "pingresp") await setImmediate();
    expect(back.received).toEqual([]);
    turn.mockRestore();
    await expect.poll(() => back.received[0]).toMatchObject({ type: "connack", sessionPresent: true });
    const left = [...(engine.sessions.get("kept")?.subscriptions.keys() ?? [])];
    expect(left).toEqual(subscriptions.map(({ filter }) => filter).filter((filter) => filter.startsWith("a/")));
  });

  it("[MQTT-460] the topics of its messages are so too, one at a time", async () => {
    let asked = 0;
    let mayAll = true;
    const maySubscribe = (_: unknown, filter: string) => ++asked > 0 && (mayAll || !filter.startsWith("b/"));
    const { engine } = await startEngine({ access: { restricts: true, hiddenFrom: () => undefined, maySubscribe } });
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const client = new MemoryClient(engine, "kept", kept);
    client.subscribe("+/#", 1);
    await expect.poll(() => client.received.at(-1)?.type).toBe("suback");
    client.send({ type: "disconnect", reason: 0 });
    const publisher = new MemoryClient(engine, "publisher");
    for (let number = 0; number < 500; number++)
      publisher.send({ ...publishPacket(`${number % 2 === 0 ? "a" : "b"}/${number}`, "x"), qos: 1, packetId: 1 });
    const session = engine.sessions.get("kept");
    if (!session) expect.unreachable();
    await expect.poll(() => session.queue.length).toBe(500);
    mayAll = false;
    const steps: number[] = [];
    asked = 0;
    for (const work = recheckInSteps(engine, session, { clientId: "kept", username: "other" }); !work.next().done; asked = 0)
      steps.push(asked);
    expect([Math.max(...steps), asked, steps.length]).toEqual([1, 0, 501]);
    expect([session.queue.length, [...session.queue].some(({ message }) => message.topic.startsWith("b/"))]).toEqual([250, false]);
  });

  it("[MQTT-242] a client that sends much at once is handled over several turns of the event loop, and nothing is lost", async () => {
    /** Takes as long as a recorder with much to do. */
    function slowly(): void {
      const until = performance.now() + 0.1;
      while (performance.now() < until);
    }
    const { engine, bystander } = await startEngine({ observer: { published: slowly } });
    const subscribers = Array.from({ length: 200 }, (_, index) => new MemoryClient(engine, `subscriber ${index}`));
    for (const subscriber of subscribers) subscriber.subscribe("t");
    const publisher = new MemoryClient(engine, "publisher");
    await expect.poll(() => subscribers.every(({ received }) => received.length === 2)).toBe(true);
    const count = 1_000;
    const messages = Array.from({ length: count }, (_, number) => encodePacket(publishPacket("t", String(number)), 5));
    publisher.connection.receive(Buffer.concat(messages));
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.at(-1)?.type, { interval: 1 }).toBe("pingresp");
    expect(publisher.connection.messagesIn).toBeLessThan(count);
    await expect.poll(() => publisher.connection.messagesIn, { timeout: 20_000 }).toBe(count);
    await expect.poll(() => subscribers.every(({ received }) => received.length === count + 2)).toBe(true);
    for (const { received } of subscribers) {
      const numbers = received.flatMap((packet) => (packet.type === "publish" ? Number(packet.payload.toString()) : []));
      expect(numbers).toEqual(messages.map((_, number) => number));
    }
  });
});
