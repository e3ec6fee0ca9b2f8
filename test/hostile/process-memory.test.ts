import { connect, type MqttClient } from "mqtt";
import { it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startBacklot } from "../support/start-backlot.ts";

const flags = "--headless --json --dashboard-port 0 --only mqtt --mqtt-port 0 --mqtt-process-memory-bytes 134217728";

it("[BL-437] a client that fills the memory of a process is disconnected, and one beside it is answered", async () => {
  const backlot = startBacklot(flags.split(" "));
  await backlot.ready();
  const { endpoints } = await backlot.state("mqtt", "running");
  const { port } = new URL(endpoints?.[0]?.url ?? "");
  const open = (options = {}): MqttClient => {
    const client = connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0, ...options });
    client.on("error", () => {});
    onTestFinished(() => void client.end(true));
    return client;
  };
  const bystander = open();
  await bystander.subscribeAsync("beside");
  const flood = open();
  const payload = Buffer.alloc(64 << 10);
  let published = 0;
  const publish = () => {
    if (published < 10_000 && flood.connected) flood.publish(`kept/${published++}`, payload, { retain: true, qos: 1 }, publish);
  };
  const closed = new Promise<void>((resolve) => flood.once("close", () => resolve()));
  flood.once("connect", () => {
    for (let count = 0; count < 8; count++) publish();
  });
  await closed;
  const answered = new Promise((resolve) => bystander.once("message", resolve));
  bystander.publish("beside", "still here");
  await answered;
  const line = "of at most 128 MiB (MQTT_PROCESS_MEMORY_BYTES)";
  await eventually(() => `${backlot.stderr()}${backlot.stdout()}`.includes(line), line);
}, 60_000);
