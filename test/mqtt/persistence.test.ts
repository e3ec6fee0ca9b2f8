import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkLeaks } from "../support/check-leaks.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { type Broker, connectWire, seen, startBroker, versions, type WireClient } from "./harness.ts";

checkLeaks();

const persistent = { persistence: true };
const kept = (clientId: string) => ({ clientId, cleanStart: false, properties: { sessionExpiryInterval: 600 } });

describe("persistence", () => {
  it.each(versions)("[MQTT-140] sessions, queues and retained messages survive a restart, version %s", async (version) => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    const options = version === 5 ? kept("s") : { clientId: "s", cleanStart: false };
    const away = await connectWire(first, version, options);
    await away.subscribe("q/#", { qos: 2 }, version === 5 ? { subscriptionIdentifiers: [5] } : undefined);
    away.send({ type: "disconnect", reason: 0 });
    await away.expectClose();
    await first.act("publish", { topic: "q/1", qos: 1, payload: "one", userProperties: [["k", "v"]] });
    await first.act("publish", { topic: "q/2", qos: 2, payload: "two", retain: true, messageExpiryInterval: 500 });
    await first.stop();

    const second = await startBroker(persistent, dataDir);
    const back = await connectWire(second, version, options);
    expect(back.connack.sessionPresent).toBe(true);
    const one = await back.expect("publish");
    expect(seen(one)).toMatchObject({ topic: "q/1", payload: "one", qos: 1 });
    if (version === 5) expect(one.properties).toMatchObject({ userProperties: [["k", "v"]], subscriptionIdentifiers: [5] });
    expect(seen(await back.expect("publish"))).toMatchObject({ topic: "q/2", payload: "two", qos: 2 });
    await back.subscribe("q/+");
    expect(seen(await back.expect("publish"))).toMatchObject({ topic: "q/2", retain: true });
    await second.act("publish", { topic: "q/3", payload: "live" });
    expect(seen(await back.expect("publish")).payload).toBe("live");
  });

  it("[MQTT-141] what was in flight is sent again after a restart, PUBREL too; what was acknowledged is not", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    const client = await connectWire(first, 5, kept("s"));
    await client.subscribe("t", { qos: 2 });
    for (const payload of ["done", "open", "half"]) await first.act("publish", { topic: "t", qos: payload === "half" ? 2 : 1, payload });
    const [done, open, half] = [await client.expect("publish"), await client.expect("publish"), await client.expect("publish")];
    client.send({ type: "puback", packetId: done.packetId, reason: 0 }).send({ type: "pubrec", packetId: half.packetId, reason: 0 });
    await client.expect("pubrel");
    await first.stop();
    const second = await startBroker(persistent, dataDir);
    const back = await connectWire(second, 5, kept("s"));
    expect(await back.expect("publish")).toMatchObject({ packetId: open.packetId, dup: true });
    expect(await back.expect("pubrel")).toMatchObject({ packetId: half.packetId });
    await back.expectNothing();
  });

  it("[MQTT-142] a session that ended, and one without expiry, leave nothing", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    await (await connectWire(first, 5, { clientId: "short" })).subscribe("t", { qos: 1 });
    await (await connectWire(first, 5, kept("forgotten"))).subscribe("t", { qos: 1 });
    await first.act("publish", { topic: "t", qos: 1 });
    await first.act("client.forget", { clientId: "forgotten" });
    await first.act("publish", { topic: "gone", retain: true, payload: "x" });
    await first.act("retained.clear", { filter: "gone" });
    await first.stop();
    const second = await startBroker(persistent, dataDir);
    expect((await second.act("client.list", {})).matching).toBe(0);
    expect(await second.act("retained.clear", { filter: "#" })).toEqual({ cleared: 0 });
  });

  it("[MQTT-144] what waited for one member of a shared subscription goes to another that is there first after a restart", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    for (const clientId of ["lost", "back"]) {
      const member = await connectWire(first, 5, kept(clientId));
      await member.subscribe("$share/workers/jobs", { qos: 1 });
      member.send({ type: "disconnect", reason: 0 });
      await member.expectClose();
    }
    const jobs = ["one", "two", "three", "four"];
    for (const payload of jobs) await first.act("publish", { topic: "jobs", qos: 1, payload });
    await first.stop();
    const second = await startBroker(persistent, dataDir);
    const back = await connectWire(second, 5, kept("back"));
    const got: string[] = [];
    while (got.length < jobs.length) got.push(seen(await back.expect("publish")).payload);
    expect(got.sort()).toEqual(jobs.sort());
    expect(await second.act("client.read", { clientId: "lost" })).toMatchObject({ queued: 0, inflight: 0 });
  });

  it("[MQTT-145] a will that was published is not published again after a restart", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    const watcher = await connectWire(first, 5, kept("watcher"));
    await watcher.subscribe("w", { qos: 1 });
    const withWill = (clientId: string, willDelayInterval: number) =>
      connectWire(first, 5, {
        ...kept(clientId),
        will: { topic: "w", payload: Buffer.from(clientId), qos: 1, retain: false, properties: { willDelayInterval } },
      });
    (await withWill("before", 1)).destroy();
    const message = await watcher.expect("publish");
    expect(seen(message).payload).toBe("before");
    watcher.send({ type: "puback", packetId: message.packetId, reason: 0 });
    await watcher.expectNothing();
    (await withWill("after", 1)).destroy();
    await first.stop();
    const second = await startBroker(persistent, dataDir);
    const back = await connectWire(second, 5, kept("watcher"));
    expect(seen(await back.expect("publish")).payload).toBe("after");
  });

  it("[MQTT-143] killed under load: nothing acknowledged is lost, and QoS 2 is never doubled", async () => {
    const dataDir = temporaryDir();
    const publishing = { nextId: 0, acknowledged: new Set<string>() };
    const received: string[] = [];
    let broker = await spawnBroker(dataDir);
    for (let round = 0; round < 3; round++) {
      const subscriber = await connectWire(broker, 5, kept("subscriber"));
      if (round === 0) await subscriber.subscribe("load/+", { qos: 2 });
      const publisher = await connectWire(broker, 5, kept("publisher"));
      const work = Promise.all([take(subscriber, received), publish(publisher, publishing)]);
      await expect.poll(() => received.length).toBeGreaterThan((round + 1) * 300);
      broker.child.kill("SIGKILL");
      await once(broker.child, "exit");
      await work;
      broker = await spawnBroker(dataDir);
    }
    const last = await connectWire(broker, 5, kept("subscriber"));
    const work = take(last, received);
    await expect.poll(() => [...publishing.acknowledged].filter((payload) => !received.includes(payload))).toEqual([]);
    last.destroy();
    await work;
    const twice = received.filter((payload, index) => payload.startsWith("2:") && received.indexOf(payload) !== index);
    expect(twice).toEqual([]);
  }, 40_000);
});

interface SpawnedBroker extends Pick<Broker, "port"> {
  readonly child: ChildProcess;
}

async function spawnBroker(dataDir: string): Promise<Broker & SpawnedBroker> {
  const script = path.join(projectRoot, "test/mqtt/run-broker.ts");
  const child = spawn(process.execPath, [script, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, port: Number(line.toString()) } as unknown as Broker & SpawnedBroker;
}

/** Takes and acknowledges messages as the standard wants it, until the connection ends. */
async function take(client: WireClient, received: string[]): Promise<void> {
  for (let packet = await client.next(); packet; packet = await client.next()) {
    if (packet.type === "pubrel") client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
    if (packet.type !== "publish") continue;
    const payload = packet.payload.toString();
    if (packet.qos === 1) client.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    if (packet.qos === 2) client.send({ type: "pubrec", packetId: packet.packetId, reason: 0 });
    // The receiver's own store: a QoS 2 message whose identifier it still holds is the same one again.
    if (packet.qos === 2 && packet.dup && received.includes(payload)) continue;
    received.push(payload);
  }
}

/** One message in flight at a time, QoS 1 and 2 in turn; what is answered counts as the broker's. */
async function publish(client: WireClient, state: { nextId: number; acknowledged: Set<string> }): Promise<void> {
  for (;;) {
    const id = state.nextId++;
    const qos = id % 2 === 0 ? 1 : 2;
    const payload = `${qos}:${id}`;
    client.publish(`load/${id % 7}`, payload, { qos, packetId: 1 + (id % 1_000) });
    const answer = await client.next();
    if (!answer) return;
    state.acknowledged.add(payload);
    if (answer.type !== "pubrec") continue;
    client.send({ type: "pubrel", packetId: answer.packetId, reason: 0 });
    if (!(await client.next())) return;
  }
}
