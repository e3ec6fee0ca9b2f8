import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { Message } from "../../../servers/mqtt/engine/routing/message.ts";
import { type Broker, connectWire, seen, startBroker, type WireClient } from "../harness.ts";
import { MemoryClient, startEngine } from "../memory-client.ts";

describe("freezing and delaying", () => {
  it("[MQTT-126] nothing is read from or sent to a frozen client until it is released", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    expect(await broker.act("client.freeze", { clientId: "c", forMs: 60_000 })).toEqual({ frozen: true });
    client.publish("t", "own");
    await broker.act("publish", { topic: "t", payload: "other" });
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ activeFault: { how: "frozen" }, messagesIn: 0 });
    expect(client.received.filter(({ type }) => type === "publish")).toEqual([]);
    expect(await broker.act("client.release", { clientId: "c" })).toEqual({ released: true });
    const got = [seen(await client.expect("publish")).payload, seen(await client.expect("publish")).payload];
    expect(got.sort()).toEqual(["other", "own"]);
  });

  it("[MQTT-126] the page shows frozen clients, also without traffic", async () => {
    const broker = await startBroker();
    await connectWire(broker, 5, { clientId: "c" });
    const shown = () => broker.views.get("clients")?.clients;
    await expect.poll(shown).toMatchObject([{ clientId: "c" }]);
    await broker.act("client.freeze", { clientId: "c", forMs: 60_000 });
    await expect.poll(shown).toMatchObject([{ activeFault: { how: "frozen" } }]);
    await broker.act("client.release", { clientId: "c" });
    await expect.poll(() => shown()?.[0]?.activeFault).toBeUndefined();
  });

  it("[MQTT-126] the page shows when the time of a fault is up, also without traffic and after other views rest", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    const shown = () => broker.views.get("clients")?.clients[0];
    // The list of clients is not sent again four seconds after the last change.
    await broker.act("client.freeze", { clientId: "c", forMs: 5_000 });
    await broker.act("publish", { topic: "t", payload: "waits" });
    await expect.poll(() => shown()?.unreadBytes).toBeGreaterThan(0);
    await client.expect("publish");
    await expect.poll(() => shown()?.activeFault).toBeUndefined();
    await expect.poll(() => shown()?.unreadBytes).toBe(0);
  });

  it("[MQTT-126] a delayed client gets everything later and in order", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    await broker.act("client.delay", { clientId: "c", delayMs: 100, forMs: 60_000 });
    for (const payload of ["1", "2", "3"]) await broker.act("publish", { topic: "t", payload });
    for (const payload of ["1", "2", "3"]) expect(seen(await client.expect("publish")).payload).toBe(payload);
    await broker.act("client.release", { clientId: "c" });
    await client.expectNothing();
  });

  it("[MQTT-126] waiting messages keep their order when the delay changes, and are sent at once when it ends", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    const bytesOut = async () => (await broker.act("client.read", { clientId: "c" }))?.bytesOut ?? 0;
    const publish = async (payload: string) => {
      const before = await bytesOut();
      await broker.act("publish", { topic: "t", payload });
      await expect.poll(bytesOut).toBeGreaterThan(before);
    };
    await broker.act("client.delay", { clientId: "c", delayMs: 60_000, forMs: 60_000 });
    await publish("1");
    await broker.act("client.delay", { clientId: "c", delayMs: 30_000, forMs: 60_000 });
    await publish("2");
    await broker.act("client.delay", { clientId: "c", delayMs: 50_000, forMs: 60_000 });
    await publish("3");
    await broker.act("client.release", { clientId: "c" });
    await publish("4");
    for (const payload of ["1", "2", "3", "4"]) expect(seen(await client.expect("publish")).payload).toBe(payload);
  });

  it("[MQTT-126] a client that reconnects has no fault any more; a disconnected one gets the reason", async () => {
    const broker = await startBroker();
    const times = { clientId: "c", forMs: 60_000 };
    for (const addFault of [() => broker.act("client.freeze", times), () => broker.act("client.delay", { ...times, delayMs: 60_000 })]) {
      const client = await connectWire(broker, 5, { clientId: "c" });
      await addFault();
      await broker.act("client.disconnect", { clientId: "c" });
      expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x98 });
      const again = await connectWire(broker, 5, { clientId: "c" });
      expect((await broker.act("client.read", { clientId: "c" }))?.activeFault).toBeUndefined();
      await again.expectNothing();
      again.destroy();
    }
  });
});

describe("deliveries to a frozen or delayed client", () => {
  it("[MQTT-237] a delayed message counts as delivered when it is sent, and not before", async () => {
    const broker = await startBroker();
    const [frozen, other] = [await connectWire(broker, 5, { clientId: "frozen" }), await connectWire(broker, 5, { clientId: "other" })];
    await frozen.subscribe("t", { qos: 1 });
    await other.subscribe("t");
    await broker.act("client.freeze", { clientId: "frozen", forMs: 60_000 });
    await broker.act("publish", { topic: "t", payload: "x", qos: 1 });
    await other.expect("publish");
    const [message] = (await broker.act("topic.history", { filter: "t" })).messages;
    expect(message).toMatchObject({ matched: 2, delivered: 1, acknowledgeable: 0 });
    await expect.poll(() => broker.rows.find(({ id }) => id === message?.id)).toMatchObject({ tone: "pending" });
    const heldForMs = 300;
    await new Promise((resolve) => setTimeout(resolve, heldForMs));
    await broker.act("client.release", { clientId: "frozen" });
    const { packetId } = await frozen.expect("publish");
    frozen.send({ type: "puback", packetId, reason: 0 });
    const read = async () => await broker.act("message.read", { id: message?.id ?? 0 });
    await expect.poll(read).toMatchObject({ delivered: 2, acknowledgeable: 1, acknowledged: 1 });
    const delivery = (await read())?.deliveries.find(({ clientId }) => clientId === "frozen");
    expect(delivery?.afterMs).toBeGreaterThanOrEqual(heldForMs - 5);
    await expect.poll(() => broker.rows.findLast(({ id }) => id === message?.id)).toMatchObject({ tone: "ok" });
  });

  const times = { clientId: "c", forMs: 60_000 };
  const faults = {
    frozen: (broker: Broker) => broker.act("client.freeze", times),
    delayed: (broker: Broker) => broker.act("client.delay", { ...times, delayMs: 60_000 }),
  };
  const newest = async (broker: Broker) => (await broker.act("topic.history", { filter: "t" })).messages[0]?.id ?? 0;
  const rowOf = (broker: Broker, id: number) => broker.rows.findLast((row) => row.id === id);
  const cutOff = (broker: Broker) => broker.act("client.disconnect", { clientId: "c", abrupt: true });

  it.each([
    { how: "frozen", end: cutOff, by: "is cut off" },
    { how: "delayed", end: cutOff, by: "is cut off" },
    { how: "delayed", end: (_broker: Broker, client: WireClient) => client.destroy(), by: "closes its connection" },
    {
      how: "delayed",
      end: (_broker: Broker, client: WireClient) => client.send({ type: "disconnect", reason: 0, properties: undefined }),
      by: "says goodbye",
    },
  ] as const)("[MQTT-506] what is held back for a $how client that $by is dropped, and not delivered", async ({ how, end }) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    await faults[how](broker);
    await broker.act("publish", { topic: "t", payload: "x" });
    const id = await newest(broker);
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "pending" });
    await end(broker, client);
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "failed", outcome: "dropped for 1", bytesOut: 0 });
    const message = await broker.act("message.read", { id });
    expect(message).toMatchObject({ delivered: 0, dropped: 1, deliveries: [{ clientId: "c", dropped: "connection ended" }] });
    await expect.poll(() => broker.views.get("figures")?.dropped["connection ended"]).toBe(1);
    expect(client.received.filter(({ type }) => type === "publish")).toEqual([]);
  });

  it("[MQTT-506] what is held back for a frozen client that has left is dropped when the freeze ends", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    await faults.frozen(broker);
    await broker.act("publish", { topic: "t", payload: "x" });
    const id = await newest(broker);
    client.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await broker.act("client.release", { clientId: "c" });
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "failed", outcome: "dropped for 1" });
    expect(await broker.act("message.read", { id })).toMatchObject({ delivered: 0, deliveries: [{ dropped: "connection ended" }] });
  });

  it("[MQTT-506] a client that is frozen again when its freeze ends stays frozen", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    await faults.frozen(broker);
    await broker.act("publish", { topic: "t", payload: "x" });
    await faults.frozen(broker);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.received.filter(({ type }) => type === "publish")).toEqual([]);
    await broker.act("client.release", { clientId: "c" });
    expect(seen(await client.expect("publish")).payload).toBe("x");
  });

  it("[MQTT-506] a frozen client that the broker disconnects gets what was held back, and it counts as delivered", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    await faults.frozen(broker);
    await broker.act("publish", { topic: "t", payload: "x" });
    const id = await newest(broker);
    await broker.act("client.disconnect", { clientId: "c" });
    await client.expect("publish");
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "ok", outcome: "to 1" });
  });

  it.each([
    { expirySeconds: 60, becomes: "counts as delivered when the client is back" },
    { expirySeconds: 0, becomes: "is dropped once, with its session" },
  ])("[MQTT-506] a message of QoS 1 that was held back for a client that is gone $becomes", async ({ expirySeconds }) => {
    const broker = await startBroker();
    const connect = () =>
      connectWire(broker, 5, { clientId: "c", cleanStart: false, properties: { sessionExpiryInterval: expirySeconds } });
    const client = await connect();
    await client.subscribe("t", { qos: 1 });
    await faults.delayed(broker);
    await broker.act("publish", { topic: "t", payload: "x", qos: 1 });
    const id = await newest(broker);
    client.destroy();
    const read = () => broker.act("message.read", { id });
    if (expirySeconds === 0) {
      await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "failed", outcome: "dropped for 1" });
      expect(await read()).toMatchObject({ delivered: 0, dropped: 1, deliveries: [{ dropped: "session ended" }] });
      return;
    }
    await expect.poll(() => broker.act("client.read", { clientId: "c" })).toMatchObject({ connected: false });
    expect(await read()).toMatchObject({ delivered: 0, dropped: 0, deliveries: [] });
    expect(rowOf(broker, id)).toMatchObject({ tone: "pending" });
    const again = await connect();
    const { packetId } = await again.expect("publish");
    again.send({ type: "puback", packetId, reason: 0 });
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "ok", outcome: "1 of 1 acknowledged" });
    expect(await read()).toMatchObject({ delivered: 1, acknowledged: 1, deliveries: [{ clientId: "c", qos: 1 }] });
  });

  it("[MQTT-506] what was held back for a client that is gone, and goes to another member of its group, is awaited from that one alone", async () => {
    const broker = await startBroker();
    const properties = { sessionExpiryInterval: 60 };
    const client = await connectWire(broker, 5, { clientId: "c", cleanStart: false, properties });
    await client.subscribe("$share/group/t", { qos: 1 });
    await faults.delayed(broker);
    await broker.act("publish", { topic: "t", payload: "x", qos: 1 });
    const id = await newest(broker);
    const other = await connectWire(broker, 5, { clientId: "other" });
    await other.subscribe("$share/group/t", { qos: 1 });
    client.destroy();
    const { packetId } = await other.expect("publish");
    other.send({ type: "puback", packetId, reason: 0 });
    await expect.poll(() => rowOf(broker, id)).toMatchObject({ tone: "ok", outcome: "1 of 1 acknowledged" });
    expect(await broker.act("message.read", { id })).toMatchObject({ delivered: 1, dropped: 0, deliveries: [{ clientId: "other" }] });
  });

  it("[MQTT-506] what is held back of QoS 0 keeps nothing of what its message was read with", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { engine } = await startEngine();
    const client = new MemoryClient(engine, "c");
    client.subscribe("t");
    await expect.poll(() => client.received.length).toBe(2);
    client.connection.freeze();
    const publish = () => {
      const message = new Message({ topic: "t", payload: Buffer.from("x"), qos: 0, retain: false });
      engine.publishInternal(message);
      return new WeakRef(message);
    };
    const messages = Array.from({ length: 100 }, publish);
    await expect.poll(() => client.connection.output.pendingBytes).toBeGreaterThan(0);
    // The newest may still be in use.
    const left = () => {
      collect();
      return messages.filter((message) => message.deref()).length;
    };
    await expect.poll(left).toBeLessThan(10);
  });
});
