import { expect, it } from "vitest";
import { Places } from "../../servers/mqtt/engine/connection/places.ts";
import { connectPacket, connectWire, openWire, openWireWebSocket, startBroker } from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const reasonOf = ({ received }: MemoryClient) => received.flatMap((packet) => ("reason" in packet ? packet.reason : [])).at(-1);

it("[MQTT-308] an address that has all clients gives way to others up to an equal part, the last one first, and not to its own", async () => {
  // The bystander has one.
  const { engine } = await startEngine({ limits: { clients: 9 } });
  const connect = (name: string, address: string) => new MemoryClient(engine, name, {}, `${address}:1`);
  const many = Array.from({ length: 8 }, (_, index) => connect(`many ${index}`, "10.0.0.1"));
  const ofItsOwn = connect("one more", "10.0.0.1");
  await expect.poll(() => reasonOf(ofItsOwn)).toBe(0x97);
  expect(many.map(({ ended }) => ended)).toEqual(many.map(() => false));
  const others = Array.from({ length: 5 }, (_, index) => connect(`other ${index}`, "10.0.0.2"));
  await expect.poll(() => others.map(reasonOf)).toEqual([0, 0, 0, 0, 0x97]);
  expect(many.map(({ ended }) => ended)).toEqual([false, false, false, false, true, true, true, true]);
  expect(many.slice(4).map(reasonOf)).toEqual([0x97, 0x97, 0x97, 0x97]);
  const third = connect("third", "10.0.0.3");
  await expect.poll(() => reasonOf(third)).toBe(0);
  expect(engine.clients.size).toBe(9);
});

it("[MQTT-308] connections without a CONNECT give way to newer ones of the same address too, the oldest first", () => {
  const places = new Places({ sockets: 4, clients: 3 });
  const ended: string[] = [];
  const take = (name: string, address: string) => places.take(address, () => void ended.push(name));
  const first = take("connected", "10.0.0.1");
  if (first && places.mayAccept(first)) places.accept(first);
  for (const name of ["a", "b", "c", "d", "e"]) expect(take(name, "10.0.0.1")).toBeDefined();
  expect(ended).toEqual(["a", "b"]);
  expect(take("other", "10.0.0.2")).toBeDefined();
  expect(ended).toEqual(["a", "b", "c"]);
});

it("[MQTT-308] connections for WebSockets that never ask for one give way to clients", async () => {
  const broker = await startBroker({ webSocket: true, clients: 40 });
  const url = new URL(broker.urls.WS ?? "");
  const silent = await Promise.all(Array.from({ length: 120 }, () => openWire({ port: Number(url.port) })));
  await expect.poll(() => silent.filter(({ closed }) => closed).length).toBeGreaterThan(0);
  const client = await openWireWebSocket(url.href, 5);
  client.send(connectPacket(5, "over WebSocket"));
  expect(await client.expect("connack")).toMatchObject({ reason: 0 });
  await (await connectWire(broker)).expectNothing();
});
