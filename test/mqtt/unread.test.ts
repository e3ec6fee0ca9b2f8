import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { WaitingWrites } from "../../servers/mqtt/engine/delivery/waiting-writes.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { serveSocket } from "../../servers/mqtt/listeners/socket-transport.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { connectWire, openWireWebSocket, startBroker, WireClient } from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const messageOn = (topic: string, payload: Buffer) => new Message({ topic, payload, qos: 0, retain: false });

it("[MQTT-353] short writes that wait are joined, and come in order", () => {
  const random = seededRandom(353);
  const waiting = new WaitingWrites();
  const all: Buffer[] = [];
  for (let count = 0; count < 2_000; count++) {
    const bytes = Buffer.alloc(random.chance(0.01) ? 5_000 : 1 + random.below(6), count & 0xff);
    all.push(bytes);
    expect(waiting.add(bytes)).toBe(bytes.length < 5_000);
  }
  expect(waiting.bytes).toBe(Buffer.concat(all).length);
  const taken = waiting.take();
  expect(taken.length).toBeLessThan(100);
  expect(Buffer.concat(taken).equals(Buffer.concat(all))).toBe(true);
  expect([waiting.bytes, waiting.take()]).toEqual([0, []]);
});

it("[MQTT-353] answers to a client that reads nothing wait as bytes, and it gets all of them in order when it reads", async () => {
  const { engine, expectUndisturbed } = await startEngine();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    serveSocket(engine, socket, false);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const client = new WireClient(socket, 5);
  client.hex("10 10 0004 4d515454 05 02 0000 00 0003 6c617a");
  await client.expect("connack");
  await client.subscribe("t");
  const [served] = sockets as [Socket];
  const connection = engine.clients.get("laz");
  socket.pause();
  let sent = 0;
  while (served.writableLength === 0) {
    engine.publishInternal(messageOn("t", Buffer.alloc(60_000)));
    sent++;
    await new Promise(setImmediate);
  }
  const inSocket = served.writableLength;
  for (let count = 0; count < 1_000; count++) {
    client.send({ type: "pingreq" });
    connection?.send({ type: "pingresp" });
    engine.scheduler.flush();
  }
  expect(served.writableLength).toBe(inSocket);
  expect(connection?.output.pendingBytes).toBeGreaterThanOrEqual(inSocket + 2_000);
  expect(engine.scheduler.unread.bytes).toBe(connection?.output.pendingBytes);
  await expectUndisturbed();
  socket.resume();
  await expect.poll(() => client.received.filter(({ type }) => type === "pingresp").length).toBe(2_000);
  expect(client.received.slice(2).map(({ type }) => type)).toEqual([
    ...Array.from({ length: sent }, () => "publish"),
    ...Array.from({ length: 2_000 }, () => "pingresp"),
  ]);
  expect(engine.scheduler.unread.bytes).toBe(0);
});

it("[MQTT-353] over a WebSocket nothing that has waited is lost either", async () => {
  const broker = await startBroker({ webSocket: true, unreadBytes: 1 << 28 });
  const client = await openWireWebSocket(broker.urls.WS ?? "");
  client.hex("10 10 0004 4d515454 05 02 0000 00 0003 6c617a");
  await client.expect("connack");
  await client.subscribe("t");
  const publisher = await connectWire(broker, 5, { clientId: "publisher" });
  for (let count = 0; count < 300; count++) publisher.publish("t", count % 10 === 0 ? "x".repeat(100_000) : String(count), {});
  await expect.poll(() => client.received.filter(({ type }) => type === "publish").length).toBe(300);
});

it("[MQTT-353] what all clients leave unread is bounded: who has more than its share gets no more and is read no further, and others are not concerned", async () => {
  const { engine, bystander, expectUndisturbed } = await startEngine({ limits: { memoryBytes: 1 << 20 } });
  const clients = Array.from({ length: 12 }, (_, index) => new MemoryClient(engine, `lazy ${index}`));
  await expect.poll(() => engine.clients.size).toBe(13);
  for (const client of clients) client.subscribe("t");
  await expect.poll(() => clients.every(({ received }) => received.length === 2)).toBe(true);
  const publish = async () => {
    engine.publishInternal(messageOn("t", Buffer.from("x")));
    engine.scheduler.flush();
  };
  const [first] = clients as [MemoryClient];
  for (const client of clients.slice(0, 5)) client.pendingBytes = 60_000;
  await publish();
  await publish();
  expect(first.received.length).toBe(4);
  for (const client of clients) client.pendingBytes = 60_000;
  await publish();
  await publish();
  const before = first.received.length;
  await publish();
  expect(first.received.length).toBe(before);
  expect(first.connection.output.isFull).toBe(true);
  first.send({ type: "pingreq" });
  first.send({ type: "pingreq" });
  engine.scheduler.flush();
  expect(first.received.filter(({ type }) => type === "pingresp")).toHaveLength(1);
  await expectUndisturbed();
  expect(bystander.connection.output.congested).toBe(false);
  for (const client of clients) {
    client.pendingBytes = 0;
    client.connection.drained();
  }
  await expect.poll(() => first.received.filter(({ type }) => type === "pingresp")).toHaveLength(2);
  expect(engine.scheduler.unread.bytes).toBe(0);
  for (const client of clients) client.pendingBytes = 80_000;
  await publish();
  await expect.poll(() => clients.filter(({ connection }) => connection.state === "closed").length).toBeGreaterThan(5);
  expect(engine.scheduler.unread.bytes).toBeLessThan(engine.limits.allUnreadBytes);
  await expectUndisturbed();
});
