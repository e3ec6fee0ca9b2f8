import { createServer as createHttpServer, Server as HttpServer } from "node:http";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import WebSocket from "ws";
import { createFailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { loadUsers } from "../../servers/core/credentials/users.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { createAccessControl } from "../../servers/mqtt/access/access-control.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { ConnectPacket, Packet } from "../../servers/mqtt/codec/packet.ts";
import { PacketDecoder } from "../../servers/mqtt/codec/packet-decoder.ts";
import type { Access } from "../../servers/mqtt/engine/connection/access.ts";
import type { Connection } from "../../servers/mqtt/engine/connection/connection.ts";
import type { Transport } from "../../servers/mqtt/engine/delivery/output.ts";
import { Engine, type EngineOptions } from "../../servers/mqtt/engine/engine.ts";
import { limitsOfConfig } from "../../servers/mqtt/engine/engine-limits.ts";
import { RetainedTree } from "../../servers/mqtt/engine/retained/retained-tree.ts";
import { createAedesBus } from "../../servers/mqtt/engine/routing/aedes-bus.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { surrenderSession } from "../../servers/mqtt/engine/session/move-session.ts";
import type { SessionStore } from "../../servers/mqtt/engine/session/session-store.ts";
import { createClientFaults } from "../../servers/mqtt/inspector/client-faults.ts";
import { serveSocket } from "../../servers/mqtt/listeners/socket-transport.ts";
import { serveWebSockets } from "../../servers/mqtt/listeners/websocket-transport.ts";
import { type MqttParts, mqttHandlers } from "../../servers/mqtt/mqtt-actions.ts";
import { mqttConfig } from "../../servers/mqtt/mqtt-config.ts";
import { checkLeaks } from "../support/check-leaks.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectPacket, connectWire, openWire, publishPacket, startBroker } from "./harness.ts";
import { spawnBroker } from "./spawned-broker.ts";

checkLeaks();

const boom = (): never => {
  throw new RangeError("boom");
};

/** A client whose transport is memory; each of its calls can be made to fail. */
class MemoryClient implements Transport {
  readonly received: Packet[] = [];
  pendingBytes = 0;
  ended = false;
  fails: "write" | "pause" | "resume" | "end" | "destroy" | undefined = undefined;
  readonly connection: Connection;
  private readonly decoder = new PacketDecoder(1 << 28);

  constructor(engine: Engine, clientId: string, more: Partial<ConnectPacket> = {}) {
    this.decoder.version = 5;
    this.connection = engine.open(this, { transport: "tcp", peer: clientId });
    this.send(connectPacket(5, clientId, more));
  }

  send(packet: Packet): void {
    this.connection.receive(encodePacket(packet, 5));
  }

  subscribe(filter: string, qos: 0 | 1 = 0): void {
    const options = { qos, noLocal: false, retainAsPublished: false, retainHandling: 0 as const };
    this.send({ type: "subscribe", packetId: 1, subscriptions: [{ filter, ...options }] });
  }

  write(bytes: Buffer): boolean {
    if (this.fails === "write") boom();
    this.decoder.append(Buffer.from(bytes));
    for (let packet = this.decoder.next(); packet; packet = this.decoder.next()) this.received.push(packet);
    return true;
  }

  end(): void {
    if (this.fails === "end") boom();
    this.ended = true;
  }

  destroy(): void {
    this.ended = true;
    if (this.fails === "destroy") boom();
  }

  pause(): void {
    if (this.fails === "pause") boom();
  }

  resume(): void {
    if (this.fails === "resume") boom();
  }
}

type Parts = Partial<Omit<EngineOptions, "limits" | "access">> & { limits?: Record<string, unknown>; access?: Partial<Access> };

async function startEngine({ limits, access, ...more }: Parts = {}) {
  const faults: string[] = [];
  const bus = await createAedesBus({ retained: new RetainedTree(), store: more.store });
  const open = createAccessControl({
    anonymous: true,
    users: await loadUsers([]),
    rules: [],
    failures: createFailureLimits({ failures: 100, windowMs: 60_000 }),
  });
  const ignored = () => {};
  const engine = new Engine({
    limits: limitsOfConfig(mqttConfig.parse({ ...limits }), Number.POSITIVE_INFINITY, { info: ignored }),
    access: { ...open, ...access },
    bus,
    log: { debug: ignored, info: ignored, warning: ignored, error: (text) => void faults.push(text) },
    ...more,
  });
  onTestFinished(async () => {
    engine.stop();
    await bus.close();
  });
  const bystander = new MemoryClient(engine, "bystander");
  bystander.subscribe("news");
  await expect.poll(() => bystander.received.length).toBe(2);
  /** The bystander is served as if nothing had happened. */
  async function expectUndisturbed(): Promise<void> {
    const before = bystander.received.length;
    engine.publishInternal(new Message({ topic: "news", payload: Buffer.from("x"), qos: 0, retain: false }));
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.slice(before).map(({ type }) => type)).toEqual(["publish", "pingresp"]);
    expect(bystander.ended).toBe(false);
  }
  /** Its connection is over, the log says why, and nobody else was touched. */
  async function expectEnded(client: MemoryClient): Promise<void> {
    await expect.poll(() => client.connection.state).toBe("closed");
    expect(client.ended).toBe(true);
    expect(engine.connections.has(client.connection)).toBe(false);
    await expect.poll(() => faults.join("\n")).toContain("boom");
    await expectUndisturbed();
  }
  return { engine, bus, faults, bystander, expectEnded, expectUndisturbed };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("[MQTT-232] a fault in one step of a connection ends that connection, with a log line, and no other", () => {
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

  it("what waited for the authentication", async () => {
    const authenticate: Access["authenticate"] = async () => ({ allowed: true, username: undefined });
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded } = await startEngine({ access: { authenticate, mayPublish } });
    const client = new MemoryClient(engine, "client");
    client.send(publishPacket("boom", ""));
    await expectEnded(client);
  });

  it.each(["frozen", "delayed"] as const)("the end of a time in which it was %s", async (how) => {
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

  it("keep alive, the close and what follows from it", async () => {
    const disconnected = ({ clientId }: { clientId: string }) => (clientId === "client" ? boom() : undefined);
    const { engine, expectEnded } = await startEngine({ observer: { disconnected } });
    const client = new MemoryClient(engine, "client", { keepAliveSeconds: 1 });
    client.fails = "end";
    await expect.poll(() => client.connection.state, { timeout: 3_000 }).toBe("closed");
    await expectEnded(client);
    expect(engine.clients.has("client")).toBe(false);
  });

  it("the will and the session of a client that is gone", async () => {
    const mayPublish: Access["mayPublish"] = (_, topic) => (topic === "boom" ? boom() : true);
    const { engine, expectEnded, faults } = await startEngine({ access: { mayPublish } });
    const will = { topic: "boom", payload: Buffer.from("x"), qos: 0 as const, retain: false, properties: { willDelayInterval: 1 } };
    const client = new MemoryClient(engine, "client", { will, properties: { sessionExpiryInterval: 1 } });
    client.connection.close("lost");
    await expect.poll(() => faults, { timeout: 3_000 }).toHaveLength(1);
    await expectEnded(client);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(faults).toHaveLength(1);
  });

  it("the write at the end of a tick, and the delivery to one of many", async () => {
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

  it("what waits until the client has read", async () => {
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

  it("retained messages that are sent in turns", async () => {
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

  /** Whatever is sent to it ends in an exception, before a byte of it is written. */
  const cannotBeSentTo = ({ connection }: MemoryClient) => Object.defineProperty(connection, "maximumPacketSize", { get: boom });

  it("a session that another connection takes over", async () => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    cannotBeSentTo(client);
    const next = new MemoryClient(engine, "client");
    await expectEnded(client);
    expect(next.received.map(({ type }) => type)).toEqual(["connack"]);
    expect(next.connection.state).toBe("connected");
  });

  it("the session's move to another broker", async () => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    cannotBeSentTo(client);
    surrenderSession(engine, "client", false);
    await expectEnded(client);
    expect(engine.sessions.has("client")).toBe(false);
  });

  it("the stop of the broker, which goes on with the others", async () => {
    const { engine, bystander, faults } = await startEngine();
    const [first, last] = [new MemoryClient(engine, "first"), new MemoryClient(engine, "last")];
    cannotBeSentTo(first);
    engine.stop();
    expect([bystander, first, last].map(({ ended, connection }) => [ended, connection.state])).toEqual(
      Array.from({ length: 3 }, () => [true, "closed"]),
    );
    expect(last.received.at(-1)).toMatchObject({ type: "disconnect", reason: 0x8b });
    expect(faults.join()).toContain("boom");
  });

  it.each(["disconnect", "forget", "cut off"] as const)("%s by the page", async (how) => {
    const { engine, expectEnded } = await startEngine();
    const client = new MemoryClient(engine, "client");
    if (how === "cut off") client.fails = "destroy";
    else cannotBeSentTo(client);
    const parts: Pick<MqttParts, "engine" | "views"> = { engine, views: { showSmall() {}, showClients() {} } };
    const actions = mqttHandlers(parts as MqttParts);
    if (how === "forget") expect(actions["client.forget"]({ clientId: "client" })).toEqual({ forgotten: true });
    else {
      const params = { clientId: "client", reason: "administrative action", text: "", abrupt: how === "cut off" } as const;
      expect(actions["client.disconnect"](params)).toEqual({ disconnected: true });
    }
    await expectEnded(client);
  });

  it.each(["tcp", "WebSocket"])("its opening, over %s", async (kind) => {
    const { engine, faults, expectUndisturbed } = await startEngine();
    Object.defineProperty(engine, "cluster", { value: { gate: boom } });
    const server = kind === "tcp" ? createTcpServer((socket) => serveSocket(engine, socket, false)) : createHttpServer();
    if (server instanceof HttpServer) serveWebSockets(engine, server, { encrypted: false, isOriginAllowed: () => true });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = kind === "tcp" ? connectTcp(port, "127.0.0.1") : new WebSocket(`ws://127.0.0.1:${port}`, "mqtt");
    client.on("error", () => {});
    await new Promise((resolve) => client.once("close", resolve));
    expect(faults.join()).toContain("boom");
    Object.defineProperty(engine, "cluster", { value: undefined });
    await expectUndisturbed();
  });

  it("recovery after the store had failed, and a store that fails in a way of its own", async () => {
    let failure: Error | undefined;
    const ignored = () => {};
    const store: SessionStore = {
      commit() {
        if (failure) throw failure;
      },
      ...{ saveSession: ignored, removeSession: ignored, subscribed: ignored, unsubscribed: ignored, updated: ignored, removed: ignored },
      ...{ released: ignored, retained: ignored, retainedRemoved: ignored, retainedExpired: ignored, queued: ignored, received: ignored },
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
    await expect.poll(() => engine.storeFailing, { timeout: 3_000 }).toBe(false);
    await expectEnded(client);
  });
});

describe("a CONNECT with fields as long as they may be", () => {
  const longId = "x".repeat(65_535);
  const asking = { clientId: longId, properties: { requestResponseInformation: 1 } };

  it("[MQTT-231] is answered without response information where that does not fit, and ends nothing", async () => {
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
  it("[MQTT-233] the limit of clients is kept where many authenticate at once", async () => {
    const broker = await startBroker({ users: ["ada:secret"], clients: 3 });
    const login = { username: "ada", password: Buffer.from("secret") };
    const clients = await Promise.all(Array.from({ length: 12 }, () => connectWire(broker, 5, login)));
    expect(clients.map(({ connack }) => connack.reason).sort()).toEqual([0, 0, 0, ...Array.from({ length: 9 }, () => 0x97)]);
  });

  it("[MQTT-235] a clock that is set forward ends no connection", async () => {
    const { engine, bystander } = await startEngine();
    const client = new MemoryClient(engine, "client", { keepAliveSeconds: 60 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
    onTestFinished(() => void vi.useRealTimers());
    // Longer than a sweep.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([client.connection.state, bystander.connection.state]).toEqual(["connected", "connected"]);
  });
});
