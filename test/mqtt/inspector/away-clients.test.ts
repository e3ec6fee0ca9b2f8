import { expect, it } from "vitest";
import { connectWire, startBroker } from "../harness.ts";

it("[MQTT-561] a client that is away has the figures of its last connection", async () => {
  const broker = await startBroker();
  const properties = { sessionExpiryInterval: 600, receiveMaximum: 9 };
  const client = await connectWire(broker, 5, { clientId: "kept", keepAliveSeconds: 30, properties });
  await client.subscribe("a", { qos: 0 });
  await broker.act("publish", { topic: "a", payload: "x" });
  await client.expect("publish");
  const before = await broker.act("client.read", { clientId: "kept" });
  expect(before).toMatchObject({ messagesOut: 1, keepAliveSeconds: 30, inflightLimit: 9, transport: "tcp" });
  client.destroy();
  await expect
    .poll(() => broker.act("client.read", { clientId: "kept" }))
    .toEqual({ ...before, connected: false, since: expect.any(Number) });
});
