import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import type { Access } from "../../servers/mqtt/engine/connection/access.ts";
import type { createAedesBus } from "../../servers/mqtt/engine/routing/aedes-bus.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import type { SessionStore } from "../../servers/mqtt/engine/session/session-store.ts";
import { createClientFaults } from "../../servers/mqtt/inspector/client-faults.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectPacket, connectWire, openWire, publishPacket, startBroker } from "./harness.ts";
import { boom, MemoryClient, startEngine } from "./memory-client.ts";
import { spawnBroker } from "./spawned-broker.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("[MQTT-232] an error in one step of a connection ends only that connection, with a log line", () => {
  it("a packet", async () => {
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded } = await startEngine({ access: { mayPublish } });
    const client = new MemoryClient(engine, "client");
    client.send(publishPacket("boom", ""));
    await expectEnded(client);
    expect(client.received.at(-1)).toMatchObject({ type: "disconnect", reason: 0x80 });
  });

  it.each(["thrown", "rejected", "thrown after it"])("the authentication, %s", async (how) => {
    const allowed = { allowed: true, username: undefined } as const;
    const authenticate: Access["authenticate"] = ({ clientId }) => {
      if (clientId === "bystander") return allowed;
      if (how === "thrown") return boom();
      return how === "rejected" ? Promise.reject(new Error("boom")) : Promise.resolve(allowed);
    };
    const connected = ({ clientId }: { clientId: string }) => (clientId === "client" && how === "thrown after it" ? boom() : undefined);
    const { engine, expectEnded } = await startEngine({ access: { authenticate }, observer: { connected } });
    await expectEnded(new MemoryClient(engine, "client"));
  });

  it("a step of an enhanced authentication", async () => {
    const exchange: Access["exchange"] = () => ({ step: async () => boom() });
    const { engine, expectEnded } = await startEngine({ access: { exchange } });
    await expectEnded(new MemoryClient(engine, "client", { properties: { authenticationMethod: "M" } }));
  });

  it("the packets that waited for the authentication", async () => {
    const authenticate: Access["authenticate"] = async () => ({ allowed: true, username: undefined });
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded } = await startEngine({ access: { authenticate, mayPublish } });
    const client = new MemoryClient(engine, "client");
    client.send(publishPacket("boom", ""));
    await expectEnded(client);
  });

  it.each(["frozen", "delayed"] as const)("the end of a period in which it was %s", async (how) => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    client.subscribe("t");
    await settled();
    const clientFaults = createClientFaults();
    onTestFinished(clientFaults.close);
    if (how === "frozen") clientFaults.freeze(client.connection, 30);
    else clientFaults.delay(client.connection, 60_000, 30);
    engine.publishInternal(new Message({ topic: "t", payload: Buffer.from("x"), qos: 0, retain: false }));
    client.fails = "write";
    await expectEnded(client);
  });

  it("a delayed write", async () => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    client.subscribe("t");
    await settled();
    client.connection.delay(20);
    engine.publishInternal(new Message({ topic: "t", payload: Buffer.from("x"), qos: 0, retain: false }));
    client.fails = "write";
    await expectEnded(client);
  });

  it.each(["pause", "resume"] as const)("the limit of its rate: %s", async (fails) => {
    const { engine, expectEnded } = await startEngine({ limits: { messagesPerSecond: 10 } });
    const client = new MemoryClient(engine, "client");
    for (let count = 0; count < 4; count++) client.send(publishPacket("t", ""));
    client.fails = fails;
    await expectEnded(client);
  });

  it("keep alive, the close and what follows it", async () => {
    const disconnected = ({ clientId }: { clientId: string }) => (clientId === "client" ? boom() : undefined);
    const { engine, expectEnded } = await startEngine({ observer: { disconnected } });
    const client = new MemoryClient(engine, "client", { keepAliveSeconds: 1 });
    client.fails = "end";
    await expect.poll(() => client.connection.state).toBe("closed");
    await expectEnded(client);
    expect(engine.clients.has("client")).toBe(false);
  });

  it("the will and the session of a client that is gone", async () => {
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded, faults } = await startEngine({ access: { mayPublish } });
    const will = { topic: "boom", payload: Buffer.from("x"), qos: 0 as const, retain: false, properties: { willDelayInterval: 1 } };
    const client = new MemoryClient(engine, "client", { will, properties: { sessionExpiryInterval: 1 } });
    await expect.poll(() => client.received.length).toBe(1);
    client.connection.close("lost");
    await expect.poll(() => faults).toHaveLength(1);
    await expectEnded(client);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(faults).toHaveLength(1);
  });

  it("the write at the end of a tick, and the delivery to one of many clients", async () => {
    const { engine, expectEnded } = await startEngine();
    const [client, healthy] = [new MemoryClient(engine, "client"), new MemoryClient(engine, "healthy")];
    for (const one of [client, healthy]) one.subscribe("t", 1);
    const publisher = new MemoryClient(engine, "publisher");
    await settled();
    client.fails = "write";
    publisher.send({ ...publishPacket("t", "x".repeat(200_000)), qos: 1, packetId: 1 });
    await expectEnded(client);
    expect(publisher.received.at(-1)).toMatchObject({ type: "puback", reason: 0 });
    expect(healthy.received.at(-1)).toMatchObject({ type: "publish", topic: "t" });
  });

  it("messages that wait until the client has read", async () => {
    const { engine, expectEnded } = await startEngine({ limits: { unreadBytes: 4_096 } });
    const client = new MemoryClient(engine, "client");
    client.subscribe("t", 1);
    await settled();
    client.pendingBytes = 10_000;
    for (let count = 0; count < 2; count++) {
      engine.publishInternal(new Message({ topic: "t", payload: Buffer.from("x"), qos: 1, retain: false }));
      await settled();
    }
    client.pendingBytes = 0;
    client.connection.maximumPacketSize = 1_000;
    Object.defineProperty(client.connection, "sentAliases", { get: boom });
    client.connection.drained();
    await expectEnded(client);
  });

  it("retained messages that are sent in portions", async () => {
    const { engine, expectEnded, bus } = await startEngine();
    for (let count = 0; count < 1_500; count++) {
      const message = new Message({ topic: `r/${count}`, payload: Buffer.from("x"), qos: 0, retain: true });
      bus.retained.store(message);
      if (count === 1_400) Object.defineProperty(message, "expiresAt", { get: boom });
    }
    const matching = bus.retained.matching.bind(bus.retained);
    vi.spyOn(bus.retained, "matching").mockImplementation((filter) => (filter === "r/#" ? allOf(bus, 1_500) : matching(filter)));
    const client = new MemoryClient(engine, "client");
    client.subscribe("r/#");
    await expectEnded(client);
  });

  /** Without a look at their expiry. */
  const allOf = (bus: Awaited<ReturnType<typeof createAedesBus>>, count: number) => {
    const broken = new Message({ topic: "r/broken", payload: Buffer.from("x"), qos: 0, retain: true });
    Object.defineProperty(broken, "expiresAt", { get: boom });
    const whole = new Message({ topic: "r/whole", payload: Buffer.from("x"), qos: 0, retain: true });
    expect(bus.retained.count).toBe(count);
    return [...Array.from({ length: count }, () => whole), broken];
  };

  it("recovery after a store failure, and an unexpected store error", async () => {
    let failure: Error | undefined;
    const ignored = () => {};
    const store: SessionStore = {
      commit() {
        if (failure) throw failure;
      },
      saveSession: ignored,
      removeSession: ignored,
      subscribed: ignored,
      unsubscribed: ignored,
      updated: ignored,
      removed: ignored,
      released: ignored,
      retained: ignored,
      retainedRemoved: ignored,
      retainedExpired: ignored,
      queued: ignored,
      received: ignored,
    };
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded, faults } = await startEngine({ store, access: { mayPublish } });
    const client = new MemoryClient(engine, "client");
    await settled();
    failure = new TypeError("not a value for SQLite");
    await expect.poll(() => engine.storeFailing).toBe(true);
    expect(faults.join()).toContain("not a value for SQLite");
    failure = new ServiceError("STORE_UNREACHABLE", "The disk is full", "Make room.");
    client.send(publishPacket("boom", ""));
    client.fails = "resume";
    failure = undefined;
    await expect.poll(() => engine.storeFailing).toBe(false);
    await expectEnded(client);
  });
});

describe("a CONNECT with fields of maximum length", () => {
  const longId = "x".repeat(65_535);
  const asking = { clientId: longId, properties: { requestResponseInformation: 1 } };

  it("[MQTT-231] is answered without response information if that does not fit, and does no harm", async () => {
    const broker = await spawnBroker(temporaryDir(), { users: ["ada:secret"] });
    const bystander = await connectWire(broker, 5);
    const anonymous = await connectWire(broker, 5, asking);
    expect(anonymous.connack).toMatchObject({ reason: 0 });
    expect(anonymous.connack.properties?.responseInformation).toBeUndefined();
    const named = await connectWire(broker, 5, { ...asking, username: "ada", password: Buffer.from("secret") });
    expect(named.connack).toMatchObject({ reason: 0 });
    const fits = await connectWire(broker, 5, { ...asking, clientId: longId.slice("replies/".length) });
    expect(fits.connack.properties?.responseInformation).toHaveLength(65_535);
    await bystander.expectNothing();
  });

  it("[MQTT-231] has a reason string of bounded length, in the answer and in the log", async () => {
    const broker = await startBroker({ users: ["ada:secret"] });
    const bystander = await connectWire(broker, 5);
    const client = await openWire(broker, 5);
    client.send(connectPacket(5, longId, { properties: { authenticationMethod: "m".repeat(65_535) } }));
    const connack = await client.expect("connack");
    expect(connack.reason).toBe(0x8c);
    expect(connack.properties?.reasonString?.length).toBeLessThan(1_000);
    await expect.poll(() => broker.logs.some((line) => line.includes("is not known"))).toBe(true);
    expect(Math.max(...broker.logs.map(({ length }) => length))).toBeLessThan(1_000);
    const scram = await openWire(broker, 5);
    const data = Buffer.from(`n,,n=ada,r=${"r".repeat(65_500)}`);
    scram.send(connectPacket(5, "s", { properties: { authenticationMethod: "SCRAM-SHA-256", authenticationData: data } }));
    expect((await scram.expect("connack")).reason).toBe(0x87);
    await bystander.expectNothing();
  });
});

describe("limits and clocks", () => {
  it.each(["bytes", "items"])(
    "[MQTT-341] what CONNECTs have that wait for their authentication counts with what has arrived, %s",
    async (how) => {
      const answers: (() => void)[] = [];
      const authenticate: Access["authenticate"] = ({ clientId, username }) =>
        clientId === "bystander"
          ? { allowed: true, username }
          : new Promise((resolve) => answers.push(() => resolve({ allowed: true, username })));
      // A quarter of it is for what has arrived.
      const { engine, expectUndisturbed } = await startEngine({ access: { authenticate }, limits: { memoryBytes: 4 << 20 } });
      // Otherwise some wait for their turn, and count with the bytes that were received only.
      vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(false);
      const pair = ["k", how === "bytes" ? "v".repeat(50_000) : ""] as const;
      const userProperties = Array.from({ length: how === "bytes" ? 1 : 600 }, () => pair);
      const connect = (count: number) =>
        Array.from({ length: count }, (_, index) => new MemoryClient(engine, `${index}`, { properties: { userProperties } }, "10.0.0.1"));
      const clients = connect(100);
      await expectUndisturbed();
      const open = clients.filter(({ ended }) => !ended);
      expect(open.length).toBeGreaterThan(4);
      expect(open.length).toBeLessThan(12);
      for (const answer of answers.splice(0)) answer();
      await expect.poll(() => open.every(({ connection }) => connection.state === "connected")).toBe(true);
      // Those that are accepted count no more.
      const next = connect(4);
      await expectUndisturbed();
      expect(next.every(({ ended }) => !ended)).toBe(true);
      for (const answer of answers) answer();
    },
  );

  it("[MQTT-341] a CONNECT is not kept for a login that waits when its client has left", async () => {
    let answer = () => {};
    const authenticate: Access["authenticate"] = ({ clientId, username }) =>
      clientId === "bystander"
        ? { allowed: true, username }
        : new Promise((resolve) => {
            answer = () => resolve({ allowed: true, username });
          });
    const { engine, expectUndisturbed } = await startEngine({ access: { authenticate } });
    const { connection } = new MemoryClient(engine, "left");
    expect(connection.asked?.clientId).toBe("left");
    connection.cutOff("The connection was lost.");
    expect(connection.asked).toBeUndefined();
    answer();
    await expectUndisturbed();
    expect(engine.sessions.has("left")).toBe(false);
  });

  it("[MQTT-233] the limit of clients holds if many authenticate at once", async () => {
    const broker = await startBroker({ users: ["ada:secret"], clients: 3 });
    const login = { username: "ada", password: Buffer.from("secret") };
    const clients = await Promise.all(Array.from({ length: 12 }, () => connectWire(broker, 5, login)));
    expect(clients.map(({ connack }) => connack.reason).sort()).toEqual([0, 0, 0, ...Array.from({ length: 9 }, () => 0x97)]);
  });

  it.each([2, -2])(
    "[MQTT-235] setting the clock by %d hours ends no session and no message, and lets wills come when they are due",
    async (hours) => {
      const { engine, bystander } = await startEngine();
      const properties = { sessionExpiryInterval: 600 };
      const kept = new MemoryClient(engine, "kept", { cleanStart: false, properties });
      kept.subscribe("t", 1);
      const will = { topic: "news", payload: Buffer.from("will"), qos: 0 as const, retain: false, properties: { willDelayInterval: 1 } };
      const leaving = new MemoryClient(engine, "leaving", { cleanStart: false, properties, will });
      await expect.poll(() => kept.received.at(-1)?.type).toBe("suback");
      kept.connection.close("gone");
      bystander.send({ ...publishPacket("t", "waits"), qos: 1, packetId: 1, properties: { messageExpiryInterval: 600 } });
      leaving.connection.close("gone");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
      onTestFinished(() => void vi.useRealTimers());
      // Longer than a sweep, and not as long as the delay.
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect([engine.sessions.has("kept"), engine.sessions.get("leaving")?.will !== undefined]).toEqual([true, true]);
      const news = () => bystander.received.flatMap((packet) => (packet.type === "publish" ? packet.payload.toString() : []));
      await expect.poll(news).toEqual(["will"]);
      const back = new MemoryClient(engine, "kept", { cleanStart: false, properties });
      await expect.poll(() => back.received.map(({ type }) => type)).toEqual(["connack", "publish"]);
      expect(back.received[0]).toMatchObject({ sessionPresent: true });
    },
  );

  it("[MQTT-235] setting the clock forward ends no connection", async () => {
    const { engine, bystander } = await startEngine();
    const client = new MemoryClient(engine, "client", { keepAliveSeconds: 60 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
    onTestFinished(() => void vi.useRealTimers());
    // Longer than a sweep.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([client.connection.state, bystander.connection.state]).toEqual(["connected", "connected"]);
  });
});
