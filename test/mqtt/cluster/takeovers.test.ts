import { expect, it, onTestFinished, vi } from "vitest";
import { decodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { createFrameBus } from "../../../servers/mqtt/cluster/frame-bus.ts";
import { TurnShare } from "../../../servers/mqtt/engine/connection/turn-share.ts";
import { FlushScheduler } from "../../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { connectPacket, connectWire, openWire } from "../harness.ts";
import { describeCluster, kept, openRedis, startMember, startPair } from "./cluster-harness.ts";

/** CONNECTs of the brokers in this process wait for their turn until `goOn`. */
function holdConnects() {
  const held: (() => void)[] = [];
  const spy = vi.spyOn(TurnShare.prototype, "inTurn").mockImplementation((step) => void held.push(step));
  onTestFinished(() => spy.mockRestore());
  return {
    held,
    goOn() {
      spy.mockRestore();
      for (const step of held.splice(0)) step();
    },
  };
}

/** How often a broker has asked another one for a session. */
async function countWanted(url: string): Promise<() => number> {
  let count = 0;
  const channel = `backlot:mqtt:${new URL(url).pathname.slice(1)}`;
  const bus = createFrameBus(channel, (_id, frame) => {
    count += decodeFrame(frame).entries.filter(({ type }) => type === "wanted").length;
  });
  const redis = await openRedis(url);
  redis.on("messageBuffer", (_channel: Buffer, bytes: Buffer) => bus.receive(bytes));
  await redis.subscribe(channel);
  return () => count;
}

const kinds: readonly (readonly [string, (clientId: string) => object])[] = [
  ["kept", kept],
  ["not kept", (clientId) => ({ clientId })],
];

describeCluster("a session that is wanted at two brokers", (nextUrl) => {
  it.each(kinds)(
    "[MQTT-530] %s, is opened by the client that waits for its turn before the other broker gets it",
    async (_kind, options) => {
      const url = nextUrl();
      const [one, other] = await startPair(url);
      const wanted = await countWanted(url);
      const connects = holdConnects();
      const first = await openWire(one, 5);
      first.send(connectPacket(5, "c", options("c")));
      await expect.poll(() => connects.held.length).toBe(1);
      const second = await openWire(other, 5);
      second.send(connectPacket(5, "c", options("c")));
      // It asks again as long as it gets no answer.
      await expect.poll(() => wanted() >= 2 || connects.held.length > 1).toBe(true);
      expect(connects.held.length).toBe(1);
      connects.goOn();
      await first.expect("connack");
      expect(await first.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8e });
      await second.expect("connack");
      await second.expectNothing();
    },
  );

  it("[MQTT-530] goes to the other broker when the client that waited for its turn has left", async () => {
    const url = nextUrl();
    const [one, other] = await startPair(url);
    const wanted = await countWanted(url);
    const connects = holdConnects();
    const first = await openWire(one, 5);
    first.send(connectPacket(5, "c", kept("c")));
    await expect.poll(() => connects.held.length).toBe(1);
    const second = await openWire(other, 5);
    second.send(connectPacket(5, "c", kept("c")));
    await expect.poll(() => wanted() >= 2 || connects.held.length > 1).toBe(true);
    first.destroy();
    await expect.poll(() => connects.held.length).toBe(2);
    // Steps of a connection that is closed are not done.
    connects.held.shift();
    connects.goOn();
    await second.expect("connack");
    await second.expectNothing();
    expect(await one.act("client.read", { clientId: "c" })).toBeNull();
  });

  it("[MQTT-530] one connection remains of many on a busy machine", async () => {
    const [one, other] = await startPair(nextUrl());
    let asked = 0;
    const turn = vi.spyOn(FlushScheduler.prototype, "isTurnOver").mockImplementation(() => ++asked % 3 !== 0);
    onTestFinished(() => turn.mockRestore());
    for (let round = 0; round < 24; round++) {
      const clientId = `client ${round}`;
      const options = kinds[round % 2]?.[1](clientId);
      const clients = await Promise.all(Array.from({ length: 6 }, (_, index) => connectWire(index % 2 === 0 ? one : other, 5, options)));
      await expect.poll(() => clients.filter(({ closed }) => !closed).length, { interval: 5, timeout: 5_000 }).toBe(1);
      for (const client of clients) client.destroy();
    }
  });

  it("[MQTT-530] a client that waited for its turn while Redis was emptied has to connect again if its session is elsewhere by then", async () => {
    const url = nextUrl();
    const broker = await startMember(url);
    const redis = await openRedis(url);
    const connects = holdConnects();
    const client = await openWire(broker, 5);
    client.send(connectPacket(5, "c", kept("c")));
    await expect.poll(() => connects.held.length).toBe(1);
    await redis.flushdb();
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => broker.logs.filter((line) => line.includes("Redis is back")).length, { timeout: 10_000 }).toBe(1);
    await redis.set("backlot:mqtt:alive:another", 1);
    await redis.hset("backlot:mqtt:owners", "c", "another");
    connects.goOn();
    await client.expect("connack");
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8b });
    expect(await redis.hget("backlot:mqtt:owners", "c")).toBe("another");
  });
});
