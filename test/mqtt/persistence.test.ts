import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createFailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { loadUsers } from "../../servers/core/credentials/users.ts";
import { loadSqlite } from "../../servers/core/files/sqlite-file.ts";
import { createAccessControl } from "../../servers/mqtt/access/access-control.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import { Engine } from "../../servers/mqtt/engine/engine.ts";
import { limitsOfConfig } from "../../servers/mqtt/engine/engine-limits.ts";
import { RetainedTree } from "../../servers/mqtt/engine/retained/retained-tree.ts";
import { createAedesBus } from "../../servers/mqtt/engine/routing/aedes-bus.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import type { SessionStore } from "../../servers/mqtt/engine/session/session-store.ts";
import { mqttConfig } from "../../servers/mqtt/mqtt-config.ts";
import { openSqliteSessionStore } from "../../servers/mqtt/persistence/sqlite-session-store.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectPacket, connectWire, publishPacket, seen, startBroker, type WireClient } from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const persistent = { persistence: true };
const kept = (clientId: string) => ({ clientId, cleanStart: false, properties: { sessionExpiryInterval: 600 } });

describe("persistence", () => {
  it.each([
    [4, false],
    [5, false],
    [5, true],
  ] as const)(
    "[MQTT-140] sessions, queues and retained messages survive a restart, version %s, power safe %s",
    async (version, powerSafe) => {
      const dataDir = temporaryDir();
      const first = await startBroker({ ...persistent, powerSafe }, dataDir);
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
    },
  );

  it("[MQTT-425] retained messages of an earlier run are in the topic tree, also after a clear, and can be listed", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    for (let n = 0; n < 600; n++) await first.act("publish", { topic: `a/${n}`, payload: `value ${n}`, retain: true });
    await first.stop();

    const broker = await startBroker(persistent, dataDir);
    const page = { offset: 0, limit: 3 };
    const listed = () => broker.act("topic.search", { filter: "#", retained: true, ...page });
    await expect.poll(async () => (await listed()).matching).toBe(600);
    expect((await listed()).nodes[1]).toEqual({
      name: "1",
      topic: "a/1",
      count: 0,
      hasChildren: false,
      retained: true,
      last: { bytes: 7, qos: 0, preview: "value 1" },
    });
    await broker.act("publish", { topic: "a/1", payload: "live" });
    await broker.act("publish", { topic: "b", payload: "live" });
    expect((await broker.act("topic.search", { filter: "a/1", ...page })).nodes[0]).toMatchObject({ count: 1, last: { preview: "live" } });
    expect((await listed()).matching).toBe(600);

    await broker.act("history.clear", {});
    await expect.poll(async () => (await listed()).matching).toBe(600);
    await broker.act("history.restore", {});
    const { nodes, matching } = await broker.act("topic.search", { filter: "#", ...page });
    expect([matching, nodes[1]?.last?.preview]).toEqual([601, "live"]);
    await broker.act("retained.clear", { filter: "a/+" });
    expect((await listed()).matching).toBe(0);
  });

  it("[MQTT-311] a stop without it says what ends, and says nothing if that is nothing", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5, kept("s"));
    await client.subscribe("t", { qos: 1 });
    client.send({ type: "disconnect", reason: 0 });
    await client.expectClose();
    await broker.act("publish", { topic: "t", qos: 1, payload: "one", retain: true });
    await broker.stop();
    const ends = "The stop ends 1 retained message and 1 session with 1 queued message: with Keep on disk (MQTT_PERSISTENCE)";
    expect(broker.logs.join("\n")).toContain(ends);
    const unused = await startBroker();
    await unused.stop();
    expect(unused.logs.join("\n")).not.toContain("The stop ends");
  });

  it("[MQTT-479] it says how many of the retained messages are of the sample traffic, which are not counted", async () => {
    const broker = await startBroker();
    const client = await connectWire(broker, 5);
    await client.subscribe("sensors/+/temperature");
    await broker.act("sample.start", { messagesPerSecond: 200 });
    const topics = new Set<string>();
    while (topics.size < 3) topics.add((await client.expect("publish")).topic);
    await broker.act("publish", { topic: "t", payload: "one", retain: true });
    await broker.stop();
    expect(broker.logs.join("\n")).toContain("The stop ends 1 retained message (besides 3 of the sample traffic): with Keep on disk");
  });

  it("[MQTT-152] a session file that is not a database fails the start, and is left unchanged", async () => {
    const dataDir = temporaryDir();
    const file = path.join(dataDir, "sessions.sqlite");
    writeFileSync(file, "no database at all ".repeat(100));
    await expect(startBroker(persistent, dataDir)).rejects.toMatchObject({ code: "STORE_DAMAGED", message: expect.stringContaining(file) });
    expect(readFileSync(file, "utf8")).toMatch(/^no database at all/);
  });

  it("[MQTT-244] the address of an absent client is kept over a restart, also in a file that had none", async () => {
    const file = path.join(temporaryDir(), "sessions.sqlite");
    const Database = await loadSqlite();
    const before = new Database(file);
    const leftAt = 1_700_000_000_000;
    const columns = "client_id TEXT PRIMARY KEY, v5 INTEGER, expiry INTEGER, disconnected_at INTEGER, will TEXT";
    before.exec(`CREATE TABLE session (${columns}) WITHOUT ROWID; INSERT INTO session VALUES ('old', 1, 60, ${leftAt}, NULL)`);
    before.close();
    const head = { v5: true, expirySeconds: 60, disconnectedAt: leftAt, will: undefined };
    const store = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
    store.saveSession({ ...head, clientId: "new", storedId: 0, address: "10.0.0.7", recipient: undefined });
    store.commit();
    // Times are converted between two clocks, one of whole milliseconds.
    const read = { ...head, disconnectedAt: expect.closeTo(leftAt, -1) };
    expect([...store.load().sessions]).toMatchObject([
      { ...read, clientId: "old", address: "" },
      { ...read, clientId: "new", address: "10.0.0.7" },
    ]);
    store.close();
  });

  it("[MQTT-318] the address from which a retained message was written is kept over a restart, also in a file that had none", async () => {
    const file = path.join(temporaryDir(), "sessions.sqlite");
    const Database = await loadSqlite();
    const before = new Database(file);
    const columns = "topic TEXT PRIMARY KEY, payload BLOB, qos INTEGER, forwarded BLOB, expires_at INTEGER, publisher TEXT";
    before.exec(`CREATE TABLE retained (${columns}) WITHOUT ROWID; INSERT INTO retained VALUES ('old', x'78', 0, x'', 0, 'p')`);
    before.close();
    const store = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
    const message = new Message({ topic: "new", payload: Buffer.from("x"), qos: 0, retain: true, publisherId: "p" });
    message.publisherAddress = "10.0.0.7";
    store.retained(message);
    store.commit();
    expect(Array.from(store.load().retained, ({ topic, publisherAddress }) => [topic, publisherAddress])).toEqual([
      ["new", "10.0.0.7"],
      ["old", ""],
    ]);
    store.close();
  });

  it("[MQTT-141] messages in flight, PUBREL too, are sent again after a restart; acknowledged ones are not", async () => {
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

  it("[MQTT-142] an ended session, and one without expiry, leave nothing", async () => {
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

  it("[MQTT-144] a message that waited for one member of a shared subscription goes to the first member to return after a restart", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(persistent, dataDir);
    const leave = async (member: WireClient) => {
      member.send({ type: "disconnect", reason: 0 });
      await member.expectClose();
    };
    const lost = await connectWire(first, 5, kept("lost"));
    await lost.subscribe("$share/workers/jobs", { qos: 2 });
    const jobs = ["sent", "one", "two", "three", "four"];
    await first.act("publish", { topic: "jobs", qos: 2, payload: "its own" });
    await first.act("publish", { topic: "jobs", qos: 1, payload: "sent" });
    // It acknowledges neither: the first stays its own (§4.8.2), the second does not.
    expect([await lost.expect("publish"), await lost.expect("publish")].map(({ qos }) => qos)).toEqual([2, 1]);
    await leave(lost);
    const other = await connectWire(first, 5, { ...kept("back"), cleanStart: true });
    await leave(other);
    for (const payload of jobs.slice(1)) await first.act("publish", { topic: "jobs", qos: 1, payload });
    expect(await first.act("client.read", { clientId: "lost" })).toMatchObject({ queued: 4, inflight: 2 });
    await first.stop();
    const second = await startBroker(persistent, dataDir);
    const back = await connectWire(second, 5, kept("back"));
    await back.subscribe("$share/workers/jobs", { qos: 1 });
    const got: string[] = [];
    while (got.length < jobs.length) got.push(seen(await back.expect("publish")).payload);
    expect(got.sort()).toEqual(jobs.sort());
    const lostNow = await second.act("client.read", { clientId: "lost" });
    expect(lostNow).toMatchObject({ queued: 0, inflight: 1 });
    // Those of its last connection ended with the process.
    expect(lostNow).not.toHaveProperty("messagesIn");
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

  it("[MQTT-238] without persistence a read-only folder does not prevent the start", async () => {
    const unwritable = path.join(temporaryDir(), "file");
    writeFileSync(unwritable, "");
    const broker = await startBroker({}, path.join(unwritable, "mqtt"));
    await (await connectWire(broker, 5)).expectNothing();
    await expect.poll(() => broker.logs).toContainEqual(expect.stringMatching(/cannot be used: .*: MQTT runs, and keeps nothing there\.$/));
    await expect(startBroker({ persistence: true }, path.join(unwritable, "other"))).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  });

  it("[MQTT-325] what the ends of many sessions remove is committed over several turns, and is gone after a restart", async () => {
    const file = path.join(temporaryDir(), "sessions.db");
    const store = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
    let rows = 0;
    const commits: number[] = [];
    const watched: SessionStore = {
      ...store,
      get hasMuchToCommit() {
        return store.hasMuchToCommit === true;
      },
      removeSession(clientId, held) {
        rows += held?.rows ?? 0;
        store.removeSession(clientId, held);
      },
      commit() {
        commits.push(rows);
        rows = 0;
        store.commit();
      },
    };
    const { engine } = await startEngine({ store: watched });
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const names = Array.from({ length: 40 }, (_, index) => `away ${index}`);
    const clients = names.map((name) => new MemoryClient(engine, name, kept));
    for (const client of clients) client.subscribe("jobs", 1);
    await expect.poll(() => engine.counters.subscriptions).toBe(41);
    for (const { connection } of clients) connection.cutOff("The connection was lost.");
    for (let count = 0; count < 300; count++)
      engine.publishInternal(new Message({ topic: "jobs", payload: Buffer.from("x"), qos: 1, retain: false }));
    await expect.poll(() => engine.load.waiting).toBe(40 * 300);
    const back = names.map((name) => new MemoryClient(engine, name));
    await expect.poll(() => back.filter(({ received }) => received[0]?.type === "connack").length, { timeout: 10_000 }).toBe(40);
    await engine.stop();
    expect(commits.reduce((sum, one) => sum + one, 0)).toBe(40 * 301);
    expect(Math.max(...commits)).toBeLessThan(3_000);
    store.close();
    const again = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
    const { retained, sessions } = again.load();
    expect([...retained, ...sessions]).toEqual([]);
    again.close();
  });

  it("[MQTT-151] nothing is committed between the first and last change of a message, however many bytes it sends", async () => {
    const notes: string[] = [];
    const note = (what: string) => () => void notes.push(what);
    const ignored = () => {};
    const store: SessionStore = {
      queued: note("queued"),
      received: note("received"),
      commit: note("commit"),
      saveSession: ignored,
      removeSession: ignored,
      subscribed: ignored,
      unsubscribed: ignored,
      updated: ignored,
      removed: ignored,
      released: ignored,
      retained: ignored,
      retainedRemoved: ignored,
      retainedExpired: ignored,
    };
    const retained = new RetainedTree();
    const bus = await createAedesBus({ retained, store });
    const config = mqttConfig.parse({});
    const engine = new Engine({
      limits: limitsOfConfig(config, Number.POSITIVE_INFINITY, { info: ignored }),
      access: createAccessControl({
        anonymous: true,
        users: await loadUsers([]),
        rules: [],
        failures: createFailureLimits({ failures: 100, windowMs: 60_000 }),
      }),
      bus,
      store,
      log: { debug: ignored, info: ignored, warning: ignored, error: ignored },
    });
    const written: number[] = [];
    const transport = {
      write: (bytes: Buffer) => written.push(bytes.length) > 0,
      pendingBytes: 0,
      end: ignored,
      destroy: ignored,
      pause: ignored,
      resume: ignored,
    };
    const connect = (clientId: string) => {
      const connection = engine.open(transport, { transport: "tcp", peer: "test" });
      connection.receive(encodePacket(connectPacket(5, clientId, { properties: { sessionExpiryInterval: 60 } }), 5));
      return connection;
    };
    const options = { qos: 2 as const, noLocal: false, retainAsPublished: false, retainHandling: 0 as const };
    const subscribe = encodePacket({ type: "subscribe", packetId: 1, subscriptions: [{ filter: "t", ...options }] }, 5);
    for (const clientId of ["one", "two", "three"]) connect(clientId).receive(subscribe);
    const publisher = connect("publisher");
    await expect.poll(() => engine.counters.subscriptions).toBe(3);
    notes.length = 0;
    const packets = [1, 2, 3].map((packetId) => encodePacket({ ...publishPacket("t", "x".repeat(40_000)), qos: 2, packetId }, 5));
    publisher.receive(Buffer.concat(packets));
    await expect.poll(() => written.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(9 * 40_000);
    const whole = ["received", "queued", "queued", "queued"];
    expect(notes.filter((what) => what !== "commit")).toEqual([...whole, ...whole, ...whole]);
    // A turn of the event loop may end between two messages.
    const changesBefore = notes.flatMap((what, index) =>
      what === "commit" ? notes.slice(0, index).filter((one) => one !== what).length : [],
    );
    expect(changesBefore).toContain(3 * whole.length);
    expect(changesBefore.filter((changes) => changes % whole.length > 0)).toEqual([]);
    await engine.stop();
    await bus.close();
  });
});
