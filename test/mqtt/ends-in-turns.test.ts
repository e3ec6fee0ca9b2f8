import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { EndsInTurns } from "../../servers/core/net/ends-in-turns.ts";
import { readIntoSharedBuffer } from "../../servers/mqtt/listeners/shared-read-buffer.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { connectWire, startBroker } from "./harness.ts";

/** Connections of which both ends are open, and what the accepted ones read. */
async function open(count: number, ends: EndsInTurns) {
  const read: string[] = [];
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    ends.take(socket);
    accepted.push(socket);
    if (!readIntoSharedBuffer(socket, (chunk) => read.push(chunk.toString()))) socket.on("data", (chunk) => read.push(chunk.toString()));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const clients = Array.from({ length: count }, () => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  await Promise.all(clients.map((client) => once(client, "connect")));
  while (accepted.length < count) await new Promise(setImmediate);
  return { clients, accepted, read };
}

it("[MQTT-483] connections that their clients end at once end in turns, each once, after what it has sent", async () => {
  const { turns, pass } = workTime();
  const count = 400;
  const { clients, accepted, read } = await open(count, new EndsInTurns(turns.connection("")));
  const endsOfTurns: number[] = [];
  let ofTurn = 0;
  for (const socket of accepted) {
    socket.on("end", () => {
      pass();
      if (ofTurn++ > 0) return;
      setImmediate(() => {
        endsOfTurns.push(ofTurn);
        ofTurn = 0;
      });
    });
  }
  const closed = Promise.all(accepted.map((socket) => once(socket, "close")));
  for (const client of clients) client.end("last");
  await closed;
  expect(endsOfTurns.reduce((sum, ends) => sum + ends, 0)).toBe(count);
  expect(Math.max(...endsOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(endsOfTurns.length).toBeGreaterThan(1);
  expect(read).toEqual(Array(count).fill("last"));
});

it("[MQTT-483] one that is paused and resumed while its end waits, and one that is destroyed, end once", async () => {
  let goOn = () => {};
  const share = { isOver: true, later() {} };
  const service = {
    join(act: () => void) {
      goOn = act;
      return share;
    },
  };
  const { clients, accepted } = await open(2, new EndsInTurns(service as never));
  const [paused, destroyed] = accepted as [Socket, Socket];
  let ends = 0;
  for (const socket of accepted) socket.on("end", () => ends++);
  for (const client of clients) client.end();
  await Promise.all(clients.map((client) => once(client, "finish")));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  paused.pause();
  paused.resume();
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect([ends, paused.destroyed]).toEqual([0, false]);
  const closed = Promise.all([once(paused, "close"), once(destroyed, "close")]);
  destroyed.destroy();
  goOn();
  goOn();
  await closed;
  expect(ends).toBe(1);
});

it("[MQTT-483] hundreds of clients that go at once have left, with their wills, and others are served", async () => {
  const broker = await startBroker();
  const watcher = await connectWire(broker, 5, { clientId: "watcher" });
  await watcher.subscribe("will/#");
  const clients = await Promise.all(
    Array.from({ length: 300 }, (_, index) => {
      const message = { topic: `will/${index}`, payload: Buffer.from("gone"), qos: 0 as const, retain: false };
      return connectWire(broker, 5, { clientId: `client ${index}`, will: { ...message, properties: undefined } });
    }),
  );
  for (const client of clients) client.destroy();
  const topics = new Set<string>();
  while (topics.size < clients.length) topics.add((await watcher.expect("publish")).topic);
  await watcher.expectNothing();
  await expect.poll(async () => (await broker.act("client.list", { text: "", offset: 0, limit: 10 })).matching).toBe(1);
});
