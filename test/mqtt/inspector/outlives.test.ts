import path from "node:path";
import { describe, expect, it } from "vitest";
import type { TrafficPage } from "../../../contract/control.ts";
import type { ExportPart } from "../../../contract/export.ts";
import type { ParamsOf, ResultOf } from "../../../contract/operation.ts";
import type { MqttActions, MqttViews } from "../../../contract/services/mqtt.ts";
import { mqttService } from "../../../servers/mqtt/mqtt-service.ts";
import { nodeSpawner } from "../../../servers/supervisor/spawner.ts";
import { supervise } from "../../supervisor/supervise.ts";
import { builtServers } from "../../support/start-backlot.ts";
import { connectWire, publishPacket } from "../harness.ts";

const spawner = nodeSpawner(path.join(builtServers, "service-process.cjs"));
const environment = { MQTT_PORT: "0", MQTT_WEBSOCKET: "false", MQTT_TLS: "false", MQTT_SYS_INTERVAL_SECONDS: "0" };

async function superviseBroker(more: Readonly<Record<string, string>> = {}) {
  const { supervisor, dashboard, statuses, port } = await supervise({
    services: [mqttService],
    planned: [],
    spawner,
    environment: { ...environment, ...more },
  });
  await supervisor.start("mqtt");
  const act = async <Name extends keyof MqttActions & string>(action: Name, params: ParamsOf<MqttActions[Name]>) =>
    (await dashboard.call("service.action", { id: "mqtt", action, params })) as ResultOf<MqttActions[Name]>;
  const page = { offset: 0, limit: 100 };
  /** All that the page shows of topics and messages. */
  const shown = async () => {
    const { nodes } = await act("topic.search", { filter: "a", ...page });
    const { messages } = await act("topic.history", { filter: "#", limit: 100 });
    const newest = messages[0] && (await act("message.read", { id: messages[0].id }));
    const exported = (await act("history.export", { filter: "#", text: "" })) as ExportPart;
    return {
      topics: nodes.map(({ topic, count, last }) => [topic, count, last?.preview]),
      messages: messages.map(({ id, topic, start, delivered, acknowledged }) => [id, topic, atob(start), delivered, acknowledged]),
      newest: newest && { properties: newest.properties, deliveries: newest.deliveries, version: newest.version, packet: newest.packet },
      exported: exported.text,
    };
  };
  /** All messages have their last row outside of the broker's process. */
  const isRecorded = async () => {
    const ids = (await shown()).messages.map(([id]) => id);
    await expect
      .poll(async () => {
        const { rows } = (await dashboard.call("traffic.read", { id: "mqtt" })) as TrafficPage;
        return ids.filter((id) => !rows.some((row) => row.id === id && row.tone !== "pending"));
      })
      .toEqual([]);
  };
  const publish = async (payloads: readonly string[]) => {
    const broker = { port: port("mqtt") };
    const subscriber = await connectWire(broker, 5, { clientId: "subscriber" });
    await subscriber.subscribe("a/#", { qos: 1 });
    const client = await connectWire(broker, 5, { clientId: "publisher" });
    for (const [index, payload] of payloads.entries()) {
      const packet = { ...publishPacket(`a/${index % 3}`, payload), qos: 1 as const, packetId: index + 1 };
      client.send({ ...packet, properties: { contentType: "text/plain", userProperties: [["n", String(index)]] } });
      const { packetId } = await subscriber.expect("publish");
      subscriber.send({ type: "puback", packetId, reason: 0 });
      await client.expect("puback");
    }
    await expect.poll(async () => (await shown()).messages.every(([, , , , acknowledged]) => acknowledged === 1)).toBe(true);
    await isRecorded();
  };
  return { supervisor, dashboard, statuses, port, act, shown, isRecorded, publish };
}

describe("what the page shows of a broker survives its process", () => {
  it("[MQTT-239] stopped: tree, history, messages and export remain, and a start continues from them; [MQTT-290] with their count", async () => {
    const { supervisor, dashboard, act, shown, isRecorded, publish } = await superviseBroker();
    await publish(["1", "2", "3", "4", "5"]);
    const before = await shown();
    expect(before.topics).toEqual([
      ["a/0", 2, "4"],
      ["a/1", 2, "5"],
      ["a/2", 1, "3"],
    ]);
    expect(before.exported.split("\n").filter(Boolean)).toHaveLength(5);
    await supervisor.stop("mqtt");
    const histories = dashboard.follow("view/mqtt");
    expect(await shown()).toEqual(before);
    await histories.until(({ name, value }) => name === "history" && (value as MqttViews["history"]).kept === 5);
    const refusal = await dashboard.refusal("service.action", { id: "mqtt", action: "publish", params: { topic: "a" } });
    expect(refusal).toMatchObject({ code: "SERVICE_NOT_RUNNING" });

    await supervisor.start("mqtt");
    await expect.poll(shown).toEqual(before);
    await act("publish", { topic: "a/1", payload: "6" });
    const after = await shown();
    expect(after.topics).toContainEqual(["a/1", 3, "6"]);
    expect(after.messages.slice(1)).toEqual(before.messages);
    await isRecorded();
    await supervisor.stop("mqtt");
    expect(await shown()).toEqual(after);
  });

  it("[MQTT-292] stopped: a page that is opened after that shows the clients as they were at the end, though no page received them", async () => {
    const { supervisor, dashboard, port } = await superviseBroker();
    // The regular interval without a page is two seconds.
    await connectWire({ port: port("mqtt") }, 5, { clientId: "just connected" });
    await supervisor.stop("mqtt");
    const views = dashboard.follow("view/mqtt");
    const { value } = await views.until(({ name }) => name === "clients");
    expect((value as MqttViews["clients"]).clients).toMatchObject([{ clientId: "just connected", connected: true }]);
  });

  it("[MQTT-292] while a page receives the views, they follow at once", async () => {
    const { dashboard, port, act } = await superviseBroker();
    const views = dashboard.follow("view/mqtt");
    await views.until(({ name }) => name === "history");
    await connectWire({ port: port("mqtt") }, 5, { clientId: "seen" });
    await act("publish", { topic: "a", payload: "1" });
    await views.until(({ name, value }) => name === "clients" && (value as MqttViews["clients"]).clients[0]?.clientId === "seen");
    await views.until(({ name, value }) => name === "figures" && (value as MqttViews["figures"]).messagesIn === 1);
  });

  it("[MQTT-239] killed: what was recorded remains before and after a restart", async () => {
    const { supervisor, statuses, shown, publish } = await superviseBroker();
    await publish(["1", "2", "3"]);
    const before = await shown();
    const status = supervisor.views().find(({ id }) => id === "mqtt")?.status;
    if (status?.state !== "running") throw new Error("it does not run");
    process.kill(status.pid, "SIGKILL");
    await statuses.until(({ status: next }) => next.state === "running" && next.pid !== status.pid);
    await expect.poll(shown).toEqual(before);
    await supervisor.stop("mqtt");
    expect(await shown()).toEqual(before);
  });

  it("[MQTT-239] cleared messages stay cleared, and can be restored, also while it is stopped", async () => {
    const { supervisor, act, shown, isRecorded, publish } = await superviseBroker();
    await publish(["1", "2"]);
    const before = await shown();
    await act("history.clear", {});
    await act("publish", { topic: "a/new", payload: "3" });
    await isRecorded();
    await supervisor.stop("mqtt");
    expect((await shown()).topics).toEqual([["a/new", 1, "3"]]);
    await act("history.clear", {});
    expect((await shown()).messages).toEqual([]);
    await act("history.restore", {});
    expect((await shown()).topics).toEqual([["a/new", 1, "3"]]);
    await supervisor.start("mqtt");
    await expect.poll(async () => (await shown()).topics).toEqual([["a/new", 1, "3"]]);
    expect(before.messages).toHaveLength(2);
  });
});

describe("messages that wait in a stored session while the broker is restarted", () => {
  const kept = { clientId: "kept", cleanStart: false, properties: { sessionExpiryInterval: 600 } };

  it.each(["restarted", "killed"])("[MQTT-496] have their records go on when it was %s", async (how) => {
    const { supervisor, dashboard, statuses, port, act, isRecorded } = await superviseBroker({ MQTT_PERSISTENCE: "true" });
    const client = await connectWire({ port: port("mqtt") }, 5, kept);
    await client.subscribe("a/#", { qos: 1 });
    await act("publish", { topic: "a/sent", qos: 1, payload: "sent" });
    expect((await client.expect("publish")).topic).toBe("a/sent");
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    for (const topic of ["a/waits", "a/ends"]) await act("publish", { topic, qos: 1, payload: "waits" });
    if (how === "killed") {
      await isRecorded();
      const status = supervisor.views().find(({ id }) => id === "mqtt")?.status;
      if (status?.state !== "running") throw new Error("it does not run");
      process.kill(status.pid, "SIGKILL");
      await statuses.until(({ status: next }) => next.state === "running" && next.pid !== status.pid);
    } else await dashboard.call("service.restart", { id: "mqtt" });
    const waiting = async () => (await act("topic.history", { filter: "a/waits", limit: 1 })).messages;
    await expect.poll(waiting).toMatchObject([{ delivered: 0, dropped: 0, queued: 1 }]);
    const back = await connectWire({ port: port("mqtt") }, 5, kept);
    for (const topic of ["a/sent", "a/waits", "a/ends"]) {
      const packet = await back.expect("publish");
      expect(packet.topic).toBe(topic);
      if (topic !== "a/ends") back.send({ type: "puback", packetId: packet.packetId, reason: 0 });
    }
    await back.expectNothing();
    await act("client.forget", { clientId: "kept" });
    const read = async (filter: string) => {
      const [message] = (await act("topic.history", { filter, limit: 1 })).messages;
      return message && act("message.read", { id: message.id });
    };
    const delivered = { matched: 1, delivered: 1, acknowledged: 1, dropped: 0, deliveries: [{ clientId: "kept" }] };
    await expect.poll(() => read("a/waits")).toMatchObject(delivered);
    expect(await read("a/sent")).toMatchObject(delivered);
    expect((await read("a/sent"))?.deliveries[0]?.acknowledgedAfterMs).toBeGreaterThan(0);
    expect(await read("a/ends")).toMatchObject({ matched: 1, delivered: 1, acknowledged: 0, dropped: 1 });
    const outcomes = async () => {
      const { rows } = (await dashboard.call("traffic.read", { id: "mqtt" })) as TrafficPage;
      return rows.filter(({ kind }) => kind === "mqtt-message").map(({ target, outcome }) => [target, outcome]);
    };
    await expect.poll(outcomes).toEqual([
      ["a/ends", "0 of 1 acknowledged, dropped for 1"],
      ["a/waits", "1 of 1 acknowledged"],
      ["a/sent", "1 of 1 acknowledged"],
    ]);
  });
});

describe("messages that wait in a session that ends with the broker", () => {
  it.each(["restarted", "killed", "stopped"])("[MQTT-501] are dropped in their rows, with the reason, when it was %s", async (how) => {
    const { supervisor, dashboard, statuses, port, act, isRecorded } = await superviseBroker();
    const client = await connectWire({ port: port("mqtt") }, 5, { clientId: "kept", properties: { sessionExpiryInterval: 600 } });
    await client.subscribe("a/#", { qos: 1 });
    await act("publish", { topic: "a/sent", qos: 1, payload: "sent" });
    await client.expect("publish");
    await act("publish", { topic: "a/done", qos: 1, payload: "done" });
    client.send({ type: "puback", packetId: (await client.expect("publish")).packetId, reason: 0 });
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    await act("publish", { topic: "a/waits", qos: 1, payload: "waits" });
    const outcomes = async () => {
      const { rows } = (await dashboard.call("traffic.read", { id: "mqtt" })) as TrafficPage;
      return rows.filter(({ kind }) => kind === "mqtt-message").map(({ target, outcome, tone }) => [target, outcome, tone]);
    };
    await expect.poll(async () => (await outcomes()).map(([, outcome]) => outcome).slice(0, 2)).toEqual(["queued", "1 of 1 acknowledged"]);
    if (how === "killed") {
      await isRecorded();
      const status = supervisor.views().find(({ id }) => id === "mqtt")?.status;
      if (status?.state !== "running") throw new Error("it does not run");
      process.kill(status.pid, "SIGKILL");
      await statuses.until(({ status: next }) => next.state === "running" && next.pid !== status.pid);
    } else if (how === "restarted") await dashboard.call("service.restart", { id: "mqtt" });
    else await supervisor.stop("mqtt");
    await expect.poll(outcomes).toEqual([
      ["a/waits", "dropped for 1 when the broker stopped", "failed"],
      ["a/done", "1 of 1 acknowledged", "ok"],
      ["a/sent", "0 of 1 acknowledged, dropped for 1 when the broker stopped", "failed"],
    ]);
    const newest = async () => (await act("topic.history", { filter: "a/waits", limit: 1 })).messages[0];
    // The history is read after the start.
    await expect.poll(newest).toMatchObject({ matched: 1, delivered: 0, dropped: 1, lost: 1 });
    expect(await newest()).not.toHaveProperty("queued");
  });
});

it("[MQTT-510] a message that waits in a stored session says so while persistence is off, and when its time is over; with persistence it goes on", async () => {
  const { supervisor, dashboard, port, act, isRecorded } = await superviseBroker();
  const persist = (persistence: boolean) => dashboard.call("config.write", { id: "mqtt", values: { persistence } });
  const outcomes = async () => {
    const { rows } = (await dashboard.call("traffic.read", { id: "mqtt" })) as TrafficPage;
    return rows.filter(({ kind }) => kind === "mqtt-message").map(({ target, outcome, tone }) => [target, outcome, tone]);
  };
  const newest = async (filter: string) => (await act("topic.history", { filter, limit: 1 })).messages[0];
  const kept = { clientId: "kept", cleanStart: false, properties: { sessionExpiryInterval: 600 } };
  await supervisor.stop("mqtt");
  await persist(true);
  await supervisor.start("mqtt");
  const client = await connectWire({ port: port("mqtt") }, 5, kept);
  await client.subscribe("a/#", { qos: 1 });
  client.send({ type: "disconnect", reason: 0 });
  await client.expectClose();
  const publisher = await connectWire({ port: port("mqtt") }, 5);
  for (const [index, topic] of ["a/waits", "a/short"].entries()) {
    const properties = topic === "a/short" ? { messageExpiryInterval: 3 } : {};
    publisher.send({ ...publishPacket(topic, "x"), qos: 1, packetId: index + 1, properties });
    await publisher.expect("puback");
  }
  await isRecorded();
  await supervisor.stop("mqtt");
  await persist(false);
  await supervisor.start("mqtt");
  await expect.poll(outcomes).toContainEqual(["a/waits", "on disk for 1, persistence is off", "ok"]);
  expect(await newest("a/waits")).toMatchObject({ dropped: 0, onDisk: 1 });
  expect(await newest("a/waits")).not.toHaveProperty("queued");
  await expect.poll(outcomes, { timeout: 10_000 }).toContainEqual(["a/short", "expired for 1", "failed"]);
  expect(await newest("a/short")).toMatchObject({ dropped: 1, expired: 1 });
  await supervisor.stop("mqtt");
  await persist(true);
  await supervisor.start("mqtt");
  await expect.poll(outcomes).toContainEqual(["a/waits", "queued", "ok"]);
  await expect.poll(() => newest("a/short")).toMatchObject({ dropped: 1, expired: 1 });
  const back = await connectWire({ port: port("mqtt") }, 5, kept);
  const { topic, packetId } = await back.expect("publish");
  expect(topic).toBe("a/waits");
  back.send({ type: "puback", packetId, reason: 0 });
  await expect.poll(outcomes).toEqual([
    ["a/short", "expired for 1", "failed"],
    ["a/waits", "1 of 1 acknowledged", "ok"],
  ]);
});

describe("repeated messages", () => {
  const numbers = async (wire: Awaited<ReturnType<typeof connectWire>>, count: number) => {
    const received: number[] = [];
    while (received.length < count) received.push(Number(Buffer.from((await wire.expect("publish")).payload).toString()));
    return received;
  };

  it("[MQTT-301] go on after a restart where they were, with their counter", async () => {
    const { dashboard, port, act } = await superviseBroker();
    const message = { topic: "repeated", payload: "{{counter}}" };
    await act("repeat.start", { message, everyMs: 50 });
    const before = await connectWire({ port: port("mqtt") }, 5);
    await before.subscribe("repeated");
    const first = await numbers(before, 20);
    await dashboard.call("service.restart", { id: "mqtt" });
    const after = await connectWire({ port: port("mqtt") }, 5);
    await after.subscribe("repeated");
    const [next = 0, ...rest] = await numbers(after, 10);
    expect(next).toBeGreaterThan(first.at(-1) ?? 0);
    expect(rest).toEqual(rest.map((_, index) => next + index + 1));
    const { rows } = (await dashboard.call("traffic.read", { id: "mqtt", text: "repeated", limit: 1_000 })) as TrafficPage;
    const sent = rows.filter(({ target, preview }) => target === "repeated" && preview !== "").map(({ preview }) => Number(preview));
    // Every number once: none was left out and none was sent again.
    expect(sent.toReversed()).toEqual(sent.map((_, index) => index + 1));
  });

  it("[MQTT-301] end with a stop of the service", async () => {
    const { supervisor, port, act } = await superviseBroker();
    await act("repeat.start", { message: { topic: "repeated", payload: "{{counter}}" }, everyMs: 10 });
    await supervisor.stop("mqtt");
    await supervisor.start("mqtt");
    const wire = await connectWire({ port: port("mqtt") }, 5);
    await wire.subscribe("#");
    await act("publish", { topic: "published", payload: "x" });
    expect((await wire.expect("publish")).topic).toBe("published");
  });
});
