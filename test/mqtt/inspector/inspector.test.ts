import { describe, expect, it } from "vitest";
import { connectWire, seen, startBroker } from "../harness.ts";

describe("actions and views of the page", () => {
  it("[MQTT-120] publishes with every option", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("t", { qos: 2, retainAsPublished: true });
    const answer = await broker.act("publish", {
      topic: "t",
      payload: Buffer.from([0, 1, 255]).toString("base64"),
      encoding: "base64",
      qos: 2,
      retain: true,
      payloadFormatIndicator: 0,
      messageExpiryInterval: 60,
      contentType: "application/octet-stream",
      responseTopic: "r",
      correlationData: "AQI=",
      userProperties: [
        ["k", "1"],
        ["k", "2"],
      ],
    });
    expect(answer).toEqual({ matched: 1 });
    expect(await client.expect("publish")).toMatchObject({
      topic: "t",
      qos: 2,
      retain: true,
      payload: Buffer.from([0, 1, 255]),
      properties: {
        payloadFormatIndicator: 0,
        messageExpiryInterval: 60,
        contentType: "application/octet-stream",
        responseTopic: "r",
        correlationData: Buffer.from([1, 2]),
        userProperties: [
          ["k", "1"],
          ["k", "2"],
        ],
      },
    });
  });

  it("[MQTT-121] the tree counts every topic with all topics below it", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client
      .publish("hall/a/temperature", "20", { retain: true })
      .publish("hall/a/temperature", "21")
      .publish("hall/b", "on")
      .publish("x", "");
    await client.expectNothing();
    const top = await broker.act("topic.children", {});
    expect(top.nodes.map(({ name, count, hasChildren }) => [name, count, hasChildren])).toEqual([
      ["hall", 3, true],
      ["x", 1, false],
    ]);
    const below = await broker.act("topic.children", { topic: "hall/a" });
    expect(below).toMatchObject({
      matching: 1,
      nodes: [{ topic: "hall/a/temperature", count: 2, retained: true, last: { preview: "21", bytes: 2, qos: 0 } }],
    });
    expect((await broker.act("topic.search", { filter: "hall/+/temperature" })).nodes.map(({ topic }) => topic)).toEqual([
      "hall/a/temperature",
    ]);
    expect((await broker.act("topic.search", { filter: "TEMP" })).matching).toBe(1);
  });

  it("[MQTT-121] a level stays sorted by name while topics arrive, page by page", async () => {
    const broker = await startBroker();
    const names = async (page: { offset?: number; limit?: number } = {}) =>
      (await broker.act("topic.children", { topic: "plant", ...page })).nodes.map(({ name }) => name);
    for (const name of ["m", "c", "x"]) await broker.act("publish", { topic: `plant/${name}` });
    expect(await names()).toEqual(["c", "m", "x"]);
    for (const name of ["z", "a", "n", "d"]) await broker.act("publish", { topic: `plant/${name}` });
    expect(await names()).toEqual(["a", "c", "d", "m", "n", "x", "z"]);
    expect(await names({ offset: 2, limit: 3 })).toEqual(["d", "m", "n"]);
    expect((await broker.act("topic.search", { filter: "PLANT", limit: 2 })).nodes.map(({ topic }) => topic)).toEqual([
      "plant/a",
      "plant/c",
    ]);
    await broker.act("publish", { topic: "plant/b" });
    expect((await broker.act("topic.search", { filter: "plant/+", limit: 2 })).nodes.map(({ topic }) => topic)).toEqual([
      "plant/a",
      "plant/b",
    ]);
  });

  it("[MQTT-121] numbers in a level and in search results are sorted by value", async () => {
    const broker = await startBroker();
    for (const name of ["10", "2", "100", "0", "1"]) await broker.act("publish", { topic: `line/${name}/v` });
    expect((await broker.act("topic.children", { topic: "line" })).nodes.map(({ name }) => name)).toEqual(["0", "1", "2", "10", "100"]);
    expect((await broker.act("topic.search", { filter: "line/+/v" })).nodes.map(({ topic }) => topic)).toEqual([
      "line/0/v",
      "line/1/v",
      "line/2/v",
      "line/10/v",
      "line/100/v",
    ]);
  });

  it("[MQTT-121] shows the deepest and the longest topics, and the others after them", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 1 });
    const client = await connectWire(broker, 5);
    await client.subscribe("#");
    const deep = Array.from({ length: 30_000 }, (_, level) => level % 10).join("/");
    for (const topic of [deep, "/".repeat(65_535), "t".repeat(65_535), "plain"]) {
      client.publish(topic, "x", { retain: true });
      expect((await client.expect("publish")).topic).toBe(topic);
    }
    let at: string | undefined;
    for (let depth = 0; depth < 64; depth++) {
      const { nodes } = await broker.act("topic.children", at === undefined ? {} : { topic: at });
      const node = nodes.find(({ topic }) => topic !== "" && deep.startsWith(topic));
      expect(node).toMatchObject({ count: 1, hasChildren: depth < 63 });
      at = node?.topic;
    }
    expect(at).toBe(deep);
    expect((await broker.act("topic.history", { filter: deep })).messages).toMatchObject([{ topic: deep, retain: true }]);
    expect((await broker.act("topic.search", { filter: "plain" })).nodes).toMatchObject([{ topic: "plain", retained: true }]);
    expect((await broker.act("topic.children", {})).nodes.map(({ name }) => name.slice(0, 5))).toEqual(["", "0", "plain", "ttttt", "$SYS"]);
    expect((await broker.act("retained.clear", { filter: "#" })).cleared).toBe(4);
    const old = await connectWire(broker, 4);
    await old.subscribe("$SYS/broker/retained messages/count");
    expect(seen(await old.expect("publish")).payload).toMatch(/^\d+$/);
  });

  it("[MQTT-122] the history shows the publisher, the receivers and the acknowledgements", async () => {
    const broker = await startBroker();
    const one = await connectWire(broker, 5, { clientId: "one" });
    await one.subscribe("t", { qos: 1 });
    const two = await connectWire(broker, 4, { clientId: "two" });
    await two.subscribe("t", { qos: 1 });
    const publisher = await connectWire(broker, 5, { clientId: "publisher" });
    publisher.publish("t", '{"v":1}', {
      qos: 1,
      packetId: 1,
      properties: { userProperties: [["k", "v"]], contentType: "application/json" },
    });
    one.send({ type: "puback", packetId: (await one.expect("publish")).packetId, reason: 0 });
    await one.expectNothing();
    await two.expect("publish");
    const { messages } = await broker.act("topic.history", { filter: "t" });
    expect(messages).toMatchObject([{ topic: "t", publisher: "publisher", qos: 1, delivered: 2, acknowledgeable: 2, acknowledged: 1 }]);
    const message = await broker.act("message.read", { id: messages[0]?.id ?? 0 });
    expect(message).toMatchObject({
      version: 5,
      properties: { contentType: "application/json", userProperties: [["k", "v"]] },
      deliveries: [
        { clientId: "one", qos: 1, acknowledgedAfterMs: expect.any(Number) },
        { clientId: "two", qos: 1 },
      ],
    });
    expect(Buffer.from(message?.payload ?? "", "base64").toString()).toBe('{"v":1}');
    expect(Buffer.from(message?.packet ?? "", "base64")[0]).toBe(0x32);
    expect((await broker.act("topic.history", { filter: "t", text: "nothing like it" })).messages).toEqual([]);
  });

  it("[MQTT-123] messages, connections and subscriptions are traffic rows", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    await client.subscribe("t");
    client.publish("t", "hello");
    await client.expect("publish");
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    await expect
      .poll(() => broker.rows.map(({ verb, target, tone }) => [verb, target, tone]))
      .toEqual([
        ["CONNECT", "tcp", "ok"],
        ["SUBSCRIBE", "t", "ok"],
        ["QoS 0", "t", "ok"],
        ["DISCONNECT", "tcp", "ok"],
      ]);
    expect(broker.rows[2]).toMatchObject({ preview: "hello", client: "c", outcome: "to 1" });
  });

  it.each([
    [0x04, "disconnected, with its will", "ok"],
    [0x82, "disconnected: protocol error", "aborted"],
  ])("[MQTT-123] the reason %s of a client's DISCONNECT is in words", async (reason, outcome, tone) => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    client.send({ type: "disconnect", reason });
    await client.expectClose();
    await expect.poll(() => broker.rows.at(-1)).toMatchObject({ verb: "DISCONNECT", outcome, tone });
  });

  it("[MQTT-124] above its rate the recorder only counts, and reports how many", async () => {
    const broker = await startBroker({ recordedPerSecond: 10 });
    const client = await connectWire(broker, 5);
    for (let index = 0; index < 500; index++) client.publish("t", String(index));
    await client.expectNothing();
    expect((await broker.act("topic.children", {})).nodes).toMatchObject([{ topic: "t", count: 500 }]);
    expect((await broker.act("topic.history", { filter: "t", limit: 1_000 })).messages.length).toBeLessThan(100);
    await expect.poll(() => broker.views.get("figures")?.unrecorded).toBeGreaterThan(400);
  });

  it("[MQTT-124] keeps only the newest messages, as many as configured", async () => {
    const broker = await startBroker({ recordedMessages: 8 });
    for (let index = 0; index < 12; index++) await broker.act("publish", { topic: `t/${index % 4}`, payload: String(index) });
    const { messages } = await broker.act("topic.history", { filter: "#" });
    await expect.poll(() => broker.views.get("history")?.kept).toBe(8);
    expect(messages.map(({ start }) => Number(Buffer.from(start, "base64").toString()))).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
  });

  it("[MQTT-124] a busy topic, or one with large messages, does not evict the others", async () => {
    const broker = await startBroker({ recordedMessages: 32, recordedBytes: 40_000 });
    await broker.act("publish", { topic: "rare", payload: "seldom" });
    for (let index = 0; index < 30; index++) await broker.act("publish", { topic: "busy", payload: String(index) });
    for (let index = 0; index < 5; index++) await broker.act("publish", { topic: "large", payload: `${index}${"x".repeat(4_000)}` });
    const starts = async (filter: string) =>
      (await broker.act("topic.history", { filter })).messages.map(({ start }) => Buffer.from(start, "base64").toString("utf8", 0, 2));
    expect(await starts("busy")).toEqual(["29", "28", "27", "26", "25", "24", "23", "22"]);
    expect(await starts("large")).toEqual(["4x", "3x"]);
    expect(await starts("rare")).toEqual(["se"]);
    expect(await starts("#")).toEqual(["4x", "3x", "29", "28", "27", "26", "25", "24", "23", "22", "se"]);
  });

  it("[MQTT-124] quiet topics keep their newest messages beside busy ones, up to half the bound in total", async () => {
    const broker = await startBroker({ recordedMessages: 20 });
    for (const payload of ["1", "2", "3"]) await broker.act("publish", { topic: "quiet", payload });
    const flood = async (times: number) => {
      for (let index = 0; index < times; index++) await broker.act("publish", { topic: `busy/${index % 4}`, payload: "b" });
    };
    const quiet = async () => (await broker.act("topic.history", { filter: "quiet" })).messages.map(({ start }) => atob(start));
    await flood(50);
    // Five topics share ten places.
    expect(await quiet()).toEqual(["3", "2"]);
    const { messages } = await broker.act("topic.history", { filter: "#" });
    expect([messages.length, messages.at(-1)?.topic]).toEqual([20, "quiet"]);
    await broker.act("publish", { topic: "quiet", payload: "4" });
    expect(await quiet()).toEqual(["4", "3"]);
    await flood(50);
    expect(await quiet()).toEqual(["4", "3"]);
    for (let index = 0; index < 30; index++) await broker.act("publish", { topic: `once/${index}` });
    await flood(50);
    expect(await quiet()).toEqual([]);
    const once = await broker.act("topic.history", { filter: "once/#" });
    expect(once.messages.map(({ topic }) => topic)).toEqual(Array.from({ length: 10 }, (_, place) => `once/${29 - place}`));
    expect((await broker.act("topic.history", { filter: "#" })).messages).toHaveLength(20);
  });

  it.each([
    ["topics", ""],
    ["bytes", "long/".repeat(40)],
  ])(
    "[MQTT-150] a tree that is full by %s logs it once, shows the newest topics, and messages without a place in the tree are still recorded",
    async (_, above) => {
      const broker = await startBroker({ topics: 100 });
      for (let index = 0; index < 150; index++) await broker.act("publish", { topic: `${above}many/${index}`, payload: "x" });
      const { nodes, matching } = await broker.act("topic.children", { topic: `${above}many` });
      expect(matching).toBeGreaterThan(60);
      expect(matching).toBeLessThanOrEqual(100);
      expect(nodes.at(-1)).toMatchObject({ topic: `${above}many/149`, count: 1 });
      expect((await broker.act("topic.history", { filter: `${above}many/0` })).messages).toMatchObject([{ topic: `${above}many/0` }]);
      const told = () => broker.logs.filter((line) => line.includes("missing in the topic tree"));
      await expect.poll(told).toEqual([expect.stringMatching(/^\d+ messages are missing in the topic tree: it is full/)]);
      await broker.act("publish", { topic: `${above}many/more` });
      expect(told()).toHaveLength(1);
      const figures = () => broker.views.get("figures");
      await expect.poll(figures).toMatchObject({ topics: matching, missingInTree: 151 - matching });
    },
  );

  it("[MQTT-139] counts and history are cleared, and restored together with newer messages", async () => {
    const broker = await startBroker();
    const shown = async () => {
      const { messages } = await broker.act("topic.history", { filter: "#" });
      const { nodes } = await broker.act("topic.children", { topic: "a" });
      const counts = nodes.map(({ name, count, last }) => [name, count, last?.preview]);
      return { starts: messages.map(({ start }) => atob(start)), counts };
    };
    for (const [topic, payload] of [
      ["a/b", "1"],
      ["a/b", "2"],
      ["a/c", "3"],
    ] as const)
      await broker.act("publish", { topic, payload });
    expect(await broker.act("history.clear", {})).toEqual({ cleared: 3 });
    expect(await shown()).toEqual({ starts: [], counts: [] });
    for (const [topic, payload] of [
      ["a/b", "4"],
      ["a/b/d", "5"],
      ["a/e", "6"],
    ] as const)
      await broker.act("publish", { topic, payload });
    expect(await broker.act("history.restore", {})).toEqual({ restored: true });
    expect(await shown()).toEqual({
      starts: ["6", "5", "4", "3", "2", "1"],
      counts: [
        ["b", 4, "4"],
        ["c", 1, "3"],
        ["e", 1, "6"],
      ],
    });
    expect((await broker.act("topic.history", { filter: "a/b" })).messages.map(({ start }) => atob(start))).toEqual(["4", "2", "1"]);
    expect(await broker.act("history.restore", {})).toEqual({ restored: false });
  });

  it("[MQTT-125] disconnects a client with a reason, or without a DISCONNECT", async () => {
    const broker = await startBroker();
    const told = await connectWire(broker, 5, { clientId: "told" });
    expect(await broker.act("client.disconnect", { clientId: "told" })).toEqual({ disconnected: true });
    expect(await told.expectClose()).toMatchObject({ type: "disconnect", reason: 0x98 });
    const cut = await connectWire(broker, 5, { clientId: "cut" });
    await broker.act("client.disconnect", { clientId: "cut", abrupt: true });
    expect(await cut.expectClose()).toBeUndefined();
    expect(await broker.act("client.disconnect", { clientId: "nobody" })).toEqual({ disconnected: false });
  });

  it("[MQTT-127] deletes a session on request", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c", properties: { sessionExpiryInterval: 600 } });
    expect(await broker.act("client.forget", { clientId: "c" })).toEqual({ forgotten: true });
    await client.expectClose();
    expect(await broker.act("client.read", { clientId: "c" })).toBeNull();
  });

  it("[MQTT-132] publishes its own statistics on $SYS, retained", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 3_600 });
    const client = await connectWire(broker, 4);
    await client.subscribe("$SYS/broker/clients/connected");
    expect(seen(await client.expect("publish"))).toMatchObject({ payload: "0", retain: true });
  });

  it("[MQTT-121] topics with a $ come last; $SYS is not counted in topics, retained messages or the bound", async () => {
    const broker = await startBroker({ sysIntervalSeconds: 3_600, topics: 100 });
    for (let index = 0; index < 100; index++) await broker.act("publish", { topic: `many/${index}`, retain: index < 3, payload: "x" });
    expect((await broker.act("topic.children", {})).nodes.map(({ name }) => name)).toEqual(["many", "$SYS"]);
    const found = await broker.act("topic.search", { filter: "n", limit: 1_000 });
    expect([found.nodes[0]?.topic, found.nodes.at(-1)?.topic.startsWith("$SYS/")]).toEqual(["many/0", true]);
    await expect.poll(() => broker.views.get("figures")).toMatchObject({ topics: 100, retained: 3, missingInTree: 0 });
    await broker.act("retained.clear", { filter: "#" });
    await expect.poll(() => broker.views.get("figures")?.retained).toBe(0);
  });

  it("[MQTT-133] lists clients with their session and subscriptions", async () => {
    const broker = await startBroker();
    await (
      await connectWire(broker, 5, {
        clientId: "busy",
        keepAliveSeconds: 30,
        will: { topic: "w", payload: Buffer.from("x"), qos: 1, retain: true },
        properties: { sessionExpiryInterval: 60, receiveMaximum: 9 },
      })
    ).subscribe("a/#", { qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 1 }, { subscriptionIdentifiers: [4] });
    await connectWire(broker, 4, { clientId: "plain" });
    const { clients, matching } = await broker.act("client.list", {});
    expect(matching).toBe(2);
    expect(clients[0]).toMatchObject({
      clientId: "busy",
      connected: true,
      version: 5,
      transport: "tcp",
      keepAliveSeconds: 30,
      sessionExpirySeconds: 60,
      inflightLimit: 9,
      subscriptions: [{ filter: "a/#", qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 1, identifier: 4 }],
      will: { topic: "w", qos: 1, retain: true, delaySeconds: 0 },
    });
    expect(clients[0]?.bytesOut).toBeGreaterThan(0);
    expect((await broker.act("client.list", { text: "a/#" })).clients.map(({ clientId }) => clientId)).toEqual(["busy"]);
  });

  it("[MQTT-548] a client with long filters is shown with those that fit, and with how many it has", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, { clientId: "c" });
    for (let index = 0; index < 10; index++) await client.subscribe(`${"f".repeat(60_000)}${index}`);
    const shown = await broker.act("client.read", { clientId: "c" });
    expect([shown?.subscriptions.length, shown?.subscriptionCount]).toEqual([4, 10]);
    expect((await broker.act("client.list", {})).clients).toMatchObject([{ subscriptions: shown?.subscriptions, subscriptionCount: 10 }]);
  });

  it("[MQTT-319] a list of clients with long names has those that fit into it, and says how many there are", async () => {
    const broker = await startBroker();
    const will = { topic: "w".repeat(15_000), payload: Buffer.from("x"), qos: 0 as const, retain: false };
    for (let index = 0; index < 40; index++) {
      await connectWire(broker, 5, { clientId: `${"c".repeat(15_000)}${index}`, will, username: "u".repeat(15_000) });
    }
    const { clients, matching } = await broker.act("client.list", {});
    expect(matching).toBe(40);
    expect(clients.length).toBe(Math.floor((1 << 20) / 45_002));
  });
});
