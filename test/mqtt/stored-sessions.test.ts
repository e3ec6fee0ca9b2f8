import path from "node:path";
import { expect, it } from "vitest";
import { loadSqlite } from "../../servers/core/files/sqlite-file.ts";
import { Delivery } from "../../servers/mqtt/engine/delivery/delivery.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { openSqliteSessionStore } from "../../servers/mqtt/persistence/sqlite-session-store.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const openStore = (file: string) => openSqliteSessionStore({ file, synchronous: "NORMAL" });
const newFile = () => path.join(temporaryDir(), "sessions.sqlite");
const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
const messageOf = (payload: string, topic = "jobs") => new Message({ topic, payload: Buffer.from(payload), qos: 1, retain: false });

/** Fills the file with messages that wait for absent clients with these identifiers and this filter. */
async function fill(file: string, clientIds: readonly string[], filter: string, payloads: readonly string[]): Promise<void> {
  const store = await openStore(file);
  const { engine } = await startEngine({ store });
  const clients = clientIds.map((clientId) => new MemoryClient(engine, clientId, kept));
  for (const client of clients) client.subscribe(filter, 1);
  await expect.poll(() => engine.counters.subscriptions).toBe(clients.length + 1);
  for (const { connection } of clients) connection.cutOff("The connection was lost.");
  for (const payload of payloads) engine.publishInternal(messageOf(payload));
  expect(engine.load.waiting).toBe(payloads.length * (filter.startsWith("$share") ? 1 : clients.length));
  await engine.stop();
  store.close();
}

async function bytesOf(file: string): Promise<number> {
  const Database = await loadSqlite();
  const database = new Database(file);
  const size = (name: string) => database.pragma(name, { simple: true }) as number;
  const bytes = size("page_count") * size("page_size");
  database.close();
  return bytes;
}

it.each([
  ["c".repeat(16_000), "jobs"],
  ["c", `$share/${"g".repeat(16_000)}/jobs`],
])("[MQTT-361] however long the texts that a client chose, each is on disk once", async (clientId, filter) => {
  const file = newFile();
  const payloads = Array.from({ length: 500 }, (_, index) => String(index));
  await fill(file, [clientId], filter, payloads);
  expect(await bytesOf(file)).toBeLessThan(300_000);

  const store = await openStore(file);
  const { engine } = await startEngine({ store });
  await engine.restore(store.load().sessions);
  expect([...(engine.sessions.get(clientId)?.deliveries() ?? [])].map(({ message }) => String(message.payload))).toEqual(payloads);
  if (filter !== "jobs") expect([...(engine.sessions.get(clientId)?.deliveries() ?? [])][499]?.shared?.filter).toBe(filter);
  await engine.stop();
  store.close();
});

it("[MQTT-361] the bytes of what is recorded end a turn of the event loop, too", async () => {
  const store = await openStore(newFile());
  const session = { clientId: "c", storedId: 0 };
  for (let count = 0; count < 10; count++) {
    expect(store.hasMuchToCommit).toBe(false);
    store.queued(session, new Delivery(messageOf("x".repeat(110_000)), 1, false, undefined, undefined));
  }
  expect(store.hasMuchToCommit).toBe(true);
  store.commit();
  expect(store.hasMuchToCommit).toBe(false);
  store.close();
});

it("[MQTT-362] a file whose rows have the client identifier each is taken over with all that it has", async () => {
  const file = newFile();
  const Database = await loadSqlite();
  const before = new Database(file);
  before.exec(`
    CREATE TABLE session (client_id TEXT PRIMARY KEY, v5 INTEGER, expiry INTEGER, disconnected_at INTEGER, will TEXT, address TEXT)
      WITHOUT ROWID;
    CREATE TABLE subscription (client_id TEXT, filter TEXT, qos INTEGER, no_local INTEGER, retain_as_published INTEGER,
      retain_handling INTEGER, identifier INTEGER, PRIMARY KEY (client_id, filter)) WITHOUT ROWID;
    CREATE TABLE message (id INTEGER PRIMARY KEY, topic TEXT, payload BLOB, qos INTEGER, retain INTEGER, forwarded BLOB,
      expires_at INTEGER, publisher TEXT);
    CREATE TABLE delivery (id INTEGER PRIMARY KEY, client_id TEXT, message_id INTEGER, qos INTEGER, retain INTEGER,
      identifiers TEXT, packet_id INTEGER, released INTEGER, shared_filter TEXT);
    CREATE INDEX delivery_of_client ON delivery (client_id);
    CREATE TABLE received (client_id TEXT, packet_id INTEGER, PRIMARY KEY (client_id, packet_id)) WITHOUT ROWID;
    INSERT INTO session VALUES ('a', 1, 60, 1, NULL, '10.0.0.1'), ('b', 0, 70, 2, NULL, '10.0.0.2');
    INSERT INTO subscription VALUES ('a', '$share/g/t', 1, 0, 0, 0, 0), ('a', 't', 2, 1, 1, 2, 7), ('b', '$share/g/t', 1, 0, 0, 0, 0),
      ('b', '$share/h/t', 1, 0, 0, 0, 0);
    INSERT INTO message VALUES (4, 't', x'34', 1, 0, x'', 0, 'p'), (5, 't', x'35', 2, 0, x'', 0, 'p'), (6, 't', x'36', 1, 0, x'', 0, 'p');
    INSERT INTO delivery VALUES (1, 'b', 4, 1, 0, '', 0, 0, '$share/h/t'), (2, 'a', 4, 1, 0, '', 3, 0, ''), (3, 'a', 5, 2, 0, '7,8', 9, 1, ''),
      (8, 'a', 5, 1, 0, '', 0, 0, '$share/g/t');
    INSERT INTO received VALUES ('a', 11), ('a', 12);`);
  before.close();
  const read = async () => {
    const store = await openStore(file);
    const all: unknown[] = [];
    for (const session of store.load().sessions) {
      if (!session) continue;
      const { clientId, v5, expirySeconds, disconnectedAt, address, received } = session;
      const subscriptions = Array.from(session.subscriptions, ({ filter, options }) => [filter, ...Object.values(options)]);
      const deliveries = Array.from(session.deliveries, ({ id, message, qos, identifiers, packetId, released, sharedFilter }) => {
        return [id, String(message.payload), qos, identifiers, packetId, released, sharedFilter];
      });
      all.push({ clientId, v5, expirySeconds, disconnectedAt, address, received, subscriptions, deliveries });
    }
    store.close();
    return all;
  };
  const expected = [
    {
      ...{ clientId: "a", v5: true, expirySeconds: 60, disconnectedAt: 1, address: "10.0.0.1", received: [11, 12] },
      subscriptions: [
        ["$share/g/t", 1, false, false, 0, 0],
        ["t", 2, true, true, 2, 7],
      ],
      deliveries: [
        [2, "4", 1, [], 3, false, ""],
        [3, "5", 2, [7, 8], 9, true, ""],
        [8, "5", 1, [], 0, false, "$share/g/t"],
      ],
    },
    {
      ...{ clientId: "b", v5: false, expirySeconds: 70, disconnectedAt: 2, address: "10.0.0.2", received: [] },
      subscriptions: [
        ["$share/g/t", 1, false, false, 0, 0],
        ["$share/h/t", 1, false, false, 0, 0],
      ],
      deliveries: [[1, "4", 1, [], 0, false, "$share/h/t"]],
    },
  ];
  expect(await read()).toEqual(expected);
  // Once more, in the form that it has then; the message without deliveries is gone.
  expect(await read()).toEqual(expected);
  const after = new Database(file);
  expect(after.prepare("SELECT id FROM message").pluck().all()).toEqual([4, 5]);
  expect(after.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'former%' OR name LIKE '%client'").all()).toEqual([]);
  after.close();
});

it("[MQTT-363] sessions are restored over several turns of the event loop, with as many messages as there is room for", async () => {
  const file = newFile();
  const clientIds = Array.from({ length: 30 }, (_, index) => `away ${index}`);
  const payloads = Array.from({ length: 300 }, (_, index) => String(index));
  await fill(file, clientIds, "jobs", payloads);

  const store = await openStore(file);
  const { engine } = await startEngine({ store, limits: { queueMessages: 200, sessions: 21 } });
  let asked = 0;
  engine.scheduler.isTurnOver = () => ++asked % 100 === 0;
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await engine.restore(store.load().sessions);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(50);
  // One is the bystander.
  expect([engine.sessions.size, engine.load.waiting]).toEqual([21, 20 * 200]);
  await engine.stop();
  store.close();

  const again = await openStore(file);
  const rest = Array.from(again.load().sessions, (session) => [...(session?.deliveries ?? [])].length).filter((count) => count > 0);
  expect(rest).toEqual(Array.from({ length: 20 }, () => 200));
  again.close();
  const Database = await loadSqlite();
  const database = new Database(file);
  expect(database.prepare("SELECT count(*) FROM message").pluck().get()).toBe(200);
  database.close();
});
