import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ExportPart } from "../../../contract/export.ts";
import { createReplayFile } from "../../../servers/mqtt/demo/replay-file.ts";
import { createMqttSampleTraffic } from "../../../servers/mqtt/sample-traffic.ts";
import { temporaryDir } from "../../support/temporary-dir.ts";
import { until } from "../../support/until.ts";
import { connectWire, seen, startBroker } from "../harness.ts";

describe("what the broker itself publishes", () => {
  it("[MQTT-128] the sample traffic publishes sensor readings at its rate, and stops", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("sensors/#");
    await broker.act("sample.start", { messagesPerSecond: 200 });
    const message = await client.expect("publish");
    expect(message.topic).toMatch(/^sensors\/(hall-a|hall-b|roof)\/(temperature|humidity|pressure|vibration)$/);
    expect(JSON.parse(message.payload.toString())).toMatchObject({
      v: expect.any(Number),
      unit: expect.any(String),
      seq: expect.any(Number),
    });
    expect(message.properties).toMatchObject({
      contentType: "application/json",
      userProperties: [
        ["place", expect.any(String)],
        ["unit", expect.any(String)],
      ],
    });
    await broker.act("sample.stop", {});
    await expect.poll(() => broker.views.get("sample")).toMatchObject({ running: false });
  });

  it("[MQTT-309] the history and its export can be had without sample traffic, which its messages name as their source", async () => {
    const broker = await startBroker();
    await broker.act("sample.start", { messagesPerSecond: 100 });
    await expect.poll(() => broker.counters.at(-1)?.items ?? 0).toBeGreaterThan(3);
    await broker.act("sample.stop", {});
    await broker.act("publish", { topic: "mine", payload: "x" });
    const all = (await broker.act("topic.history", { filter: "#" })).messages;
    expect(new Set(all.map(({ internalSource }) => internalSource))).toEqual(new Set(["dashboard", "sample traffic"]));
    const { messages } = await broker.act("topic.history", { filter: "#", withoutSample: true });
    expect(messages.map(({ topic }) => topic)).toEqual(["mine"]);
    expect(await broker.act("history.export", { withoutSample: true })).toMatchObject({ items: 1, total: 1 });
  });

  it("[MQTT-134] messages of the broker itself count in its rate and statistics, except $SYS, and name their source", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 3_600, demoDevice: true });
    for (let count = 0; count < 3; count++) await broker.act("publish", { topic: "commands/a", payload: "x" });
    await expect.poll(() => broker.views.get("figures")?.messagesIn).toBe(6);
    const { messages } = await broker.act("topic.history", { filter: "commands/#" });
    expect(messages.map(({ internalSource }) => internalSource)).toEqual([
      "device",
      "dashboard",
      "device",
      "dashboard",
      "device",
      "dashboard",
    ]);
    await expect.poll(() => broker.counters.at(-1)?.items).toBe(6);
  });

  it("[MQTT-129] without the setting there is no demo device: a client's own commands are answered by nobody", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("commands/+/+/result");
    client.publish("commands/valve-3/open", "now");
    await client.expectNothing();
  });

  it("[MQTT-129] the demo device answers commands, on the response topic with the correlation data", async () => {
    const broker = await startBroker({ demoDevice: true });
    const client = await connectWire(broker, 5);
    await client.subscribe("answers/#");
    await client.subscribe("commands/+/+/result");
    await client.subscribe("commands/+/result");
    client.publish("commands/valve-3/open", "now", { properties: { responseTopic: "answers/1", correlationData: Buffer.from("id") } });
    const answer = await client.expect("publish");
    expect(answer).toMatchObject({ topic: "answers/1", properties: { correlationData: Buffer.from("id") } });
    expect(JSON.parse(answer.payload.toString())).toMatchObject({ command: "valve-3/open", status: "done", received: "now" });
    client.publish("commands/valve-3/close", "");
    expect(seen(await client.expect("publish")).topic).toBe("commands/valve-3/close/result");
    // There is no longer topic.
    client.publish(`commands/${"x".repeat(65_520)}`, "");
    client.publish("commands/valve-3/open", "then");
    expect(JSON.parse((await client.expect("publish")).payload.toString())).toMatchObject({ received: "then" });
    // Not where the client itself may not publish.
    await client.subscribe("$SYS/#");
    client.publish("commands/valve-3/open", "", { properties: { responseTopic: "$SYS/broker/version" } });
    await client.expectNothing();
  });

  it("[MQTT-476] a topic, filter or property of the page that has more than 65,535 bytes is refused, however few characters it has", async () => {
    const broker = await startBroker();
    const long = "ü".repeat(40_000);
    const message = { topic: "t", contentType: long };
    for (const params of [{ topic: long }, message])
      await expect(broker.act("publish", params)).rejects.toMatchObject({ code: "CALL_INVALID" });
    const rule = { filter: "#", topic: "t", delayMs: 10 };
    await expect(broker.act("reply.save", { ...rule, filter: long })).rejects.toMatchObject({ code: "CALL_INVALID" });
    await expect(broker.act("reply.save", { ...rule, properties: { contentType: long } })).rejects.toMatchObject({ code: "CALL_INVALID" });
    expect(await broker.act("publish", { topic: "ü".repeat(32_767) })).toEqual({ matched: 0 });
  });

  it("[MQTT-130] auto-reply rules answer messages they match, but not each other's", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("echo/#");
    const rule = await broker.act("reply.save", { filter: "#", topic: "echo/{topic}", payload: "got {payload}", qos: 0 });
    client.publish("ask", "this");
    expect(seen(await client.expect("publish"))).toMatchObject({ topic: "echo/ask", payload: "got this" });
    await client.expectNothing();
    client.publish("ask", "$& $$ {topic} {payload}");
    expect(seen(await client.expect("publish"))).toMatchObject({ payload: "got $& $$ {topic} {payload}" });
    expect(await broker.act("reply.remove", { id: rule.id })).toEqual({ removed: true });
    client.publish("ask", "again");
    await client.expectNothing();
  });

  it.each([
    [{ type: "text contains", text: "on" }, ["on", "off and on"]],
    [{ type: "JSON field equals", field: "state.power", value: "on" }, ['{"state":{"power":"on"}}']],
    [{ type: "JSON field equals", field: "list.1", value: "42" }, ['{"list":[1,42]}', '{"list":[1,"42"]}']],
    [{ type: "JSON field equals", field: "", value: "true" }, ["true"]],
    [{ type: "JSON field equals", field: "at", value: "null" }, ['{"at":null}']],
  ] as const)("[MQTT-130] a rule answers only payloads that meet its condition: %j", async (when, answered) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 4);
    await client.subscribe("answer");
    await broker.act("reply.save", { filter: "ask", topic: "answer", when });
    const others = ["", "off", "{", '{"state":null}', '{"state":{"power":1}}', '{"list":{"length":42}}', '{"__proto__":1}'];
    for (const payload of [...others, ...answered]) client.publish("ask", payload);
    for (const payload of answered) expect(seen(await client.expect("publish")).payload).toBe(payload);
    await client.expectNothing();
  });

  it("[MQTT-130] an answer has the properties of its rule, and the message’s correlation data if the rule says so", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("replies/#");
    const properties = {
      payloadFormatIndicator: 1,
      messageExpiryInterval: 60,
      contentType: "text/plain",
      responseTopic: "further",
      userProperties: [
        ["site", "b"],
        ["site", "a"],
      ] as [string, string][],
    };
    const rule = await broker.act("reply.save", { filter: "ask", payload: "here", properties });
    const correlationData = Buffer.from([0, 255]);
    const ask = () => client.publish("ask", "", { properties: { responseTopic: "replies/7", correlationData } });
    ask();
    const answer = await client.expect("publish");
    expect(answer).toMatchObject({ topic: "replies/7", properties: { ...properties, correlationData } });
    await broker.act("reply.save", { id: rule.id, filter: "ask", payload: "here", takesCorrelationData: false });
    ask();
    expect((await client.expect("publish")).properties ?? {}).toEqual({});
  });

  it("[MQTT-130] rules are kept over a restart; an invalid file is set aside", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker({}, dataDir);
    const rule = await first.act("reply.save", { filter: "ask", topic: "answer", payload: "kept" });
    const other = await first.act("reply.save", { filter: "other" });
    await first.act("reply.save", { id: rule.id, filter: "ask", topic: "answer", payload: "kept", enabled: true });
    await first.act("reply.remove", { id: other.id });
    await first.stop();

    const second = await startBroker({}, dataDir);
    await expect.poll(() => second.views.get("replies")).toEqual({ rules: [{ ...rule, answered: 0, dropped: 0 }] });
    const client = await connectWire(second, 5);
    await client.subscribe("answer");
    client.publish("ask", "");
    expect(seen(await client.expect("publish")).payload).toBe("kept");
    await second.stop();

    writeFileSync(path.join(dataDir, "reply-rules.json"), "[{]");
    const third = await startBroker({}, dataDir);
    await expect.poll(() => third.views.get("replies")).toEqual({ rules: [] });
    await expect.poll(() => third.logs).toContainEqual(expect.stringContaining("rules could not be read"));
    expect(readFileSync(path.join(dataDir, "reply-rules.json.unreadable"), "utf8")).toBe("[{]");
  });

  it("[MQTT-131] exports the history in parts, by filter and text, with the number of messages", async () => {
    const broker = await startBroker();
    await broker.act("publish", { topic: "a", payload: "one", qos: 1, userProperties: [["k", "v"]], messageExpiryInterval: 60 });
    for (let count = 0; count < 4; count++) await broker.act("publish", { topic: "b", payload: `two ${count}` });
    const { text, ...counted } = await broker.act("history.export", {});
    expect(counted).toEqual({ items: 5, total: 5 });
    const lines = text.trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      at: expect.any(Number),
      topic: "a",
      qos: 1,
      retain: false,
      publisher: "dashboard",
      payload: "b25l",
      properties: { userProperties: [["k", "v"]], messageExpiryInterval: 60 },
    });
    expect(await broker.act("history.export", { text: "two 3" })).toEqual({ text: `${lines[4]}\n`, items: 1, total: 1 });

    for (let count = 0; count < 60; count++) await broker.act("publish", { topic: "c", payload: "x".repeat(20_000) });
    const first = await broker.act("history.export", { filter: "c" });
    expect(first).toMatchObject({ items: expect.any(Number), total: 60, next: expect.any(String) });
    // Not in it, as it came later.
    await broker.act("publish", { topic: "c", payload: "late" });
    let items = first.items;
    for (let { next } = first; next !== undefined; ) {
      const part: ExportPart = await broker.act("history.export", { filter: "c", after: next });
      items += part.items;
      next = part.next;
    }
    expect(items).toBe(60);
  });

  it("[MQTT-131] a file is uploaded in chunks cut anywhere, and is replayed with its properties and pauses", async () => {
    const broker = await startBroker();
    const line = (at: number, topic: string, more = {}) => `${JSON.stringify({ at, topic, payload: btoa("x"), ...more })}\n`;
    const text = line(1_000, "a", { qos: 1, properties: { userProperties: [["k", "v"]], messageExpiryInterval: 60 } }) + line(31_000, "b");
    const client = await connectWire(broker, 5);
    await client.subscribe("#", { qos: 1 });
    const { id: file } = await broker.act("replay.begin", { name: "recorded.jsonl", sizeBytes: 1 });
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) await broker.act("replay.text", { file, text: piece });
    expect(await broker.act("replay.end", { file })).toMatchObject({ messages: 2, firstAt: 1_000, lastAt: 31_000, complete: true });
    expect(await broker.act("replay.start", { speed: 100 })).toEqual({ messages: 2 });
    const one = await client.expect("publish");
    expect(one).toMatchObject({ topic: "a", qos: 1, properties: { userProperties: [["k", "v"]], messageExpiryInterval: 60 } });
    client.send({ type: "puback", packetId: one.packetId, reason: 0 });
    expect(seen(await client.expect("publish")).topic).toBe("b");
    await expect.poll(() => broker.views.get("replay")).toMatchObject({ running: false, sent: 2, file: { name: "recorded.jsonl" } });
    // The same file again, stopped in its long pause.
    await broker.act("replay.start", { speed: 0.01 });
    expect((await client.expect("publish")).topic).toBe("a");
    await broker.act("replay.stop", {});
    await expect.poll(() => broker.views.get("replay")).toMatchObject({ running: false, sent: 1 });
  });

  it("[MQTT-131] a pause is kept however long, even longer than the maximum of a timer", async () => {
    const broker = await startBroker();
    const line = (at: number) => `${JSON.stringify({ at, topic: "a", payload: "" })}\n`;
    const { id: file } = await broker.act("replay.begin", { name: "months.jsonl", sizeBytes: 1 });
    await broker.act("replay.text", { file, text: line(0) + line(60 * 86_400_000) });
    await broker.act("replay.end", { file });
    await broker.act("replay.start", { speed: 1 });
    await expect.poll(() => broker.views.get("replay")).toMatchObject({ running: true, sent: 1 });
    for (let turn = 0; turn < 20; turn++) await broker.act("publish", { topic: "b", payload: "" });
    expect(broker.views.get("replay")).toMatchObject({ running: true, sent: 1 });
  });

  it("[MQTT-131] an invalid line is named, a new file replaces the one before, and none remains after the service stops", async () => {
    const dataDir = temporaryDir();
    const broker = await startBroker({}, dataDir);
    const text = `${JSON.stringify({ at: 1, topic: "a", payload: "" })}\n`;
    const first = await broker.act("replay.begin", { name: "first.jsonl", sizeBytes: 1 });
    await broker.act("replay.text", { file: first.id, text });
    await expect(broker.act("replay.text", { file: first.id, text: "\n{}\n" })).rejects.toMatchObject({
      code: "CALL_INVALID",
      message: "Line 3 of first.jsonl is not an exported message",
    });
    await expect(broker.act("replay.end", { file: first.id })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
    await expect(broker.act("replay.start", {})).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
    const second = await broker.act("replay.begin", { name: "second.jsonl", sizeBytes: 1 });
    const third = await broker.act("replay.begin", { name: "third.jsonl", sizeBytes: 1 });
    await expect(broker.act("replay.text", { file: second.id, text })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
    await expect(broker.act("replay.end", { file: third.id })).rejects.toMatchObject({ message: "third.jsonl contains no messages" });
    const fourth = await broker.act("replay.begin", { name: "fourth.jsonl", sizeBytes: 1 });
    await broker.act("replay.text", { file: fourth.id, text });
    await broker.act("replay.end", { file: fourth.id });
    expect(readdirSync(dataDir).filter((name) => name.startsWith("replay"))).toHaveLength(1);
    await broker.stop();
    expect(readdirSync(dataDir).filter((name) => name.startsWith("replay"))).toEqual([]);
  });

  it("[MQTT-131] an upload that stalls is dropped, and reported until the next one", async () => {
    const folder = temporaryDir();
    writeFileSync(path.join(folder, "replay.jsonl"), "of a service that was killed");
    const file = createReplayFile({ folder: () => folder, longestLine: 1_000, patienceMs: 20 });
    const { id } = await file.begin("recorded.jsonl", 1_000);
    await file.add(id, `${JSON.stringify({ at: 1, topic: "a", payload: "" })}\n`);
    await expect
      .poll(() => file.failure)
      .toBe("recorded.jsonl is incomplete: its page was closed or lost the connection. Choose it again.");
    expect(file.state).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    await expect(file.add(id, "")).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
    const second = await file.begin("second.jsonl", 1);
    expect(file.failure).toBeUndefined();
    await file.add(second.id, `${JSON.stringify({ at: 1, topic: "a", payload: "" })}\n`);
    expect(await file.end(second.id)).toMatchObject({ complete: true });
    await file.discard();
  });

  it("[MQTT-300] a repeated text has new values each time: a counter, the time, random numbers", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t/#");
    const payload =
      '{"n":{{counter}},"at":"{{ time }}","s":{{seconds}},"r":{{random}},"die":{{random 1 6}},"t":{{random 20.00 21.5}},"id":"{{uuid}}","x":"{{other}}"}';
    const { id } = await broker.act("repeat.start", { message: { topic: "t/a", payload }, everyMs: 10 });
    const values = [];
    for (let count = 1; count <= 3; count++) {
      const message = (await client.expect("publish")) as { payload: Buffer };
      const value = JSON.parse(message.payload.toString());
      values.push(value);
      expect(value).toMatchObject({ n: count, at: new Date(value.at).toISOString(), x: "{{other}}" });
      expect(value.s).toBeGreaterThan(1_600_000_000);
      expect([1, 2, 3, 4, 5, 6]).toContain(value.die);
      expect(value.t).toBeGreaterThanOrEqual(20);
      expect(value.t).toBeLessThanOrEqual(21.5);
      expect(value.r).toBeLessThanOrEqual(1);
    }
    expect(new Set(values.map((value) => value.id)).size).toBe(3);
    await broker.act("repeat.stop", { id });
    await broker.act("repeat.start", {
      message: { topic: "t/b", payload: Buffer.from("{{counter}}").toString("base64"), encoding: "base64" },
      everyMs: 60_000,
    });
    await until(async () => {
      const message = (await client.expect("publish")) as { topic: string; payload: Buffer };
      return message.topic === "t/b" && message.payload.toString() === "{{counter}}";
    });
  });

  it("[MQTT-135] a message is repeated at its interval until it is stopped", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t/#");
    const { id } = await broker.act("repeat.start", { message: { topic: "t/a", payload: "again", contentType: "x" }, everyMs: 20 });
    for (let count = 0; count < 3; count++) {
      expect(await client.expect("publish")).toMatchObject({ topic: "t/a", properties: { contentType: "x" } });
    }
    await expect.poll(() => broker.views.get("repeats")).toMatchObject({ list: [{ id, topic: "t/a", everyMs: 20 }] });
    expect(await broker.act("repeat.stop", { id })).toEqual({ stopped: true });
    await expect.poll(() => broker.views.get("repeats")).toEqual({ list: [] });
    expect(await broker.act("repeat.stop", { id })).toEqual({ stopped: false });
    expect(broker.views.get("repeated")).toEqual({ list: [] });
    for (let count = 0; count < 50; count++) await broker.act("repeat.start", { message: { topic: "many" }, everyMs: 60_000 });
    await expect(broker.act("repeat.start", { message: { topic: "many" }, everyMs: 60_000 })).rejects.toMatchObject({
      code: "CALL_INVALID",
    });
  });
});

it("[MQTT-508] sample traffic is not started while nothing can be stored, and one that runs goes on", () => {
  let why: string | undefined = "cannot be stored";
  const shown: unknown[] = [];
  const sample = createMqttSampleTraffic({
    publish() {},
    check() {
      if (why !== undefined) throw new Error(why);
    },
    show: (view) => shown.push(view.running),
  });
  onTestFinished(() => sample.stop());
  expect(() => sample.actions["sample.start"]({ messagesPerSecond: 1 })).toThrow("cannot be stored");
  expect(shown).toEqual([false]);
  why = undefined;
  sample.actions["sample.start"]({ messagesPerSecond: 1 });
  why = "cannot be stored";
  expect(sample.actions["sample.start"]({ messagesPerSecond: 1 })).toBeNull();
  expect(() => sample.actions["sample.start"]({ messagesPerSecond: 2 })).toThrow("cannot be stored");
  expect(shown).toEqual([false, true]);
});
