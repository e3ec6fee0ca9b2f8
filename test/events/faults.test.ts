import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { createStoreAccess } from "../../servers/events/store-access.ts";
import { curl } from "../http/curl.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { device, eventBody, getPage, getStats, onEnd, post, postAll, startEvents, startProcess } from "./harness.ts";
import { mountSmallDisk } from "./small-disk.ts";
import { stored } from "./store-contract.ts";

/** A store that keeps nothing, and has room or not. */
function failingStore(): { readonly store: EventStore; fail(now: boolean): void } {
  let failing = false;
  const counts = { total_events: 0, unique_devices: 0, accepted: 0, rejected: 0, ignored: 0 };
  const store = {
    kind: "sqlite",
    place: "somewhere",
    open: async () => {},
    close: async () => {},
    stats: async () => counts,
    newestId: async () => 0,
    async add() {
      if (failing) throw new ServiceError("STORE_FULL", "There is no room", "Free some.");
    },
  } as Partial<EventStore> as EventStore;
  return {
    store,
    fail(now) {
      failing = now;
    },
  };
}

/** Rollups against a full recount, and SQLite's own check. */
function checkFile(file: string): { readonly events: number } {
  const database = new Database(file);
  try {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const all = (sql: string) => database.prepare(sql).raw().all();
    expect(all("SELECT day, outcome, n FROM roll_day ORDER BY 1, 2")).toEqual(
      all("SELECT substr(created_at, 1, 10), outcome, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2"),
    );
    expect(all("SELECT device_id, outcome, n FROM roll_device ORDER BY 1, 2")).toEqual(
      all("SELECT device_id, outcome, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2"),
    );
    expect(all("SELECT block, outcome, n, first_at, last_at FROM roll_block ORDER BY 1, 2")).toEqual(
      all("SELECT id >> 12, outcome, count(*), min(created_at), max(created_at) FROM events GROUP BY 1, 2 ORDER BY 1, 2"),
    );
    expect(all("SELECT n FROM roll_counter WHERE name = 'devices'")).toEqual(all("SELECT count(DISTINCT device_id) FROM events"));
    return { events: database.prepare("SELECT count(*) FROM events").pluck().get() as number };
  } finally {
    database.close();
  }
}

it("[EV-40] after kill -9 in the middle of a load every event answered with 201 is in the file, the file is intact, and the rollups equal a recount", async () => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  let sent = 0;
  let acknowledged: number[] = [];
  for (let round = 0; round < 2; round++) {
    const service = await startProcess(dataDir, { rateLimits: false });
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    const roundGoal = acknowledged.length + 150 + 100 * round;
    let killed = false;
    const client = async () => {
      while (!killed) {
        const number = ++sent;
        const body = JSON.stringify(
          eventBody({ device_id: device(number % 50), edit_count: number, outcome: ["accepted", "rejected", "ignored"][number % 3] }),
        );
        const status = await new Promise<number | undefined>((resolve) => {
          const request = httpRequest(`${service.url}/events`, { agent, method: "POST" }, (response) => {
            response.resume();
            resolve(response.statusCode);
          });
          request.on("error", () => resolve(undefined));
          request.end(body);
        });
        if (status === 201) acknowledged.push(number);
        if (acknowledged.length >= roundGoal && !killed) {
          killed = true;
          service.child.kill("SIGKILL");
        }
        if (status === undefined) return;
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    await service.stop();
    agent.destroy();
    const database = new Database(file);
    const stored = new Set(database.prepare("SELECT edit_count FROM events").pluck().all() as number[]);
    database.close();
    acknowledged = [...new Set(acknowledged)];
    expect(acknowledged.filter((number) => !stored.has(number))).toEqual([]);
    checkFile(file);
  }
});

it("[EV-41] a full file is a 503 that says so, loses no acknowledged event, can still be read, and stores again once there is room", async () => {
  const dataDir = temporaryDir();
  const first = await startEvents({ maxMebibytes: 1, rateLimits: false }, { dataDir });
  let taken = 0;
  for (;;) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => post(first.url, eventBody({ device_id: device(taken + index) }))),
    );
    const statuses = await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()] as const));
    taken += statuses.filter(([status]) => status === 201).length;
    const full = statuses.find(([status]) => status !== 201);
    if (!full) continue;
    expect(full).toEqual([503, '{"error":"Storage is full: there is no room for more events in events.db"}']);
    break;
  }
  expect(taken).toBeGreaterThan(500);
  expect((await getPage(first.url)).total).toBe(taken);
  await expect.poll(() => first.view("storage").failure?.code).toBe("STORE_FULL");
  await first.stop();
  expect(checkFile(first.file).events).toBe(taken);
  expect(statSync(first.file).size).toBeLessThanOrEqual(1 << 20);
  const second = await startEvents({ rateLimits: false }, { dataDir });
  await postAll(second.url, [eventBody()]);
  expect(await getStats(second.url)).toMatchObject({ total_events: taken + 1 });
});

it("[EV-41] the same with a disk that is really full", async ({ skip }) => {
  const dir = temporaryDir();
  if (!mountSmallDisk(dir, "2m")) skip("this user may not mount a small disk");
  const { url, stop } = await startEvents({ database: path.join(dir, "events.db"), rateLimits: false });
  await post(url, eventBody());
  let taken = 1;
  let refusal: readonly [number, string] | undefined;
  while (!refusal) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, eventBody())));
    for (const answer of answers) {
      const text = await answer.text();
      if (answer.status === 201) taken += 1;
      else refusal = [answer.status, text];
    }
  }
  expect(refusal).toEqual([503, '{"error":"Storage is full: there is no room for more events in events.db"}']);
  expect((await getPage(url)).total).toBe(taken);
  await stop();
});

it("[EV-41] on a small disk the log does not take the room of the database, and storing goes on with little room that is freed", async ({
  skip,
}) => {
  const dir = temporaryDir();
  if (!mountSmallDisk(dir, "1100k")) skip("this user may not mount a small disk");
  const other = path.join(dir, "other");
  writeFileSync(other, Buffer.alloc(300_000));
  const { url, stop } = await startEvents({ database: path.join(dir, "events.db"), rateLimits: false });
  const postUntilFull = async () => {
    for (let taken = 0; ; taken++) if ((await post(url, eventBody())).status !== 201) return taken;
  };
  const before = await postUntilFull();
  // Each commit adds some 14 KB to the log.
  expect(before).toBeGreaterThan(300);
  rmSync(other);
  let after = 0;
  await expect.poll(async () => (after += await postUntilFull()), { interval: 300 }).toBeGreaterThan(100);
  expect((await getPage(url)).total).toBe(before + after);
  await stop();
});

it("[EV-42] a file locked by another program is waited for, then 503 names it; no event is lost", async () => {
  const { url, file } = await startEvents();
  await post(url, eventBody());
  const other = new Database(file);
  other.exec("BEGIN IMMEDIATE");
  const waiting = post(url, eventBody({ device_id: device(2) }));
  setTimeout(() => other.exec("COMMIT"), 300);
  expect((await waiting).status).toBe(201);
  other.exec("BEGIN IMMEDIATE");
  const [refused, page] = await Promise.all([post(url, eventBody()), getPage(url)]);
  expect(page.total).toBe(2);
  expect([refused.status, await refused.text()]).toEqual([503, '{"error":"Storage is locked: another program has locked events.db"}']);
  other.exec("COMMIT");
  other.close();
  expect((await post(url, eventBody())).status).toBe(201);
});

it("[EV-42] the same if it is locked before it is opened", async () => {
  const dataDir = temporaryDir();
  const other = new Database(path.join(dataDir, "events.db"));
  other.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE");
  const { url } = await startEvents({}, { dataDir });
  const refused = await curl(`${url}/stats`);
  expect([refused.status, refused.body]).toEqual([503, '{"error":"Storage is locked: another program has locked events.db"}']);
  other.exec("COMMIT");
  other.close();
  expect((await curl(`${url}/stats`)).status).toBe(200);
});

it("[EV-42] a file locked before it is opened is waited for too", async () => {
  const dataDir = temporaryDir();
  const other = new Database(path.join(dataDir, "events.db"));
  other.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE");
  const { url } = await startEvents({}, { dataDir });
  const waiting = curl(`${url}/stats`);
  setTimeout(() => {
    other.exec("COMMIT");
    other.close();
  }, 300);
  expect((await waiting).status).toBe(200);
});

it.each([
  ["is no database", () => Buffer.from("These are notes, and they are dear to someone.\n".repeat(500))],
  [
    "is damaged inside",
    (file: string) => {
      const database = new Database(file);
      database.exec("CREATE TABLE events (id INTEGER PRIMARY KEY, x TEXT); CREATE INDEX i ON events(x)");
      const insert = database.prepare("INSERT INTO events (x) VALUES (?)");
      database.transaction(() => {
        for (let row = 0; row < 2_000; row++) insert.run("x".repeat(50));
      })();
      database.close();
      const bytes = readFileSync(file);
      bytes.fill(0x5a, 4_096 * 3);
      bytes.fill(0x5a, 110, 4_000);
      return bytes;
    },
  ],
])("[EV-43] a file that %s is named in the error and left unchanged, and a good one in its place is used at once", async (_name, make) => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  const bytes = make(file);
  writeFileSync(file, bytes);
  const events = await startEvents({}, { dataDir });
  for (const answer of [await curl(`${events.url}/stats`), await curl("-d", JSON.stringify(eventBody()), `${events.url}/events`)]) {
    expect([answer.status, answer.body]).toEqual([503, '{"error":"Storage is damaged: events.db is not readable and was left unchanged"}']);
  }
  expect(readFileSync(file).equals(bytes)).toBe(true);
  await expect
    .poll(() => events.view("storage").failure)
    .toMatchObject({ code: "STORE_DAMAGED", message: `${file} is not a readable database` });
  await expect.poll(() => events.logs.some(({ level, text }) => level === "error" && text.includes(file))).toBe(true);
  await expect(events.act("page")).rejects.toMatchObject({ code: "STORE_DAMAGED" });
  writeFileSync(file, "");
  expect((await curl(`${events.url}/stats`)).status).toBe(200);
  await expect.poll(() => events.view("storage").failure).toBeUndefined();
});

it("[EV-43] a file that is no database is named at the start already, and ends it where EVENTS_DB names the file", async () => {
  const dataDir = temporaryDir();
  const file = path.join(dataDir, "events.db");
  writeFileSync(file, "These are notes.");
  const events = await startEvents({}, { dataDir });
  await expect.poll(() => events.view("storage").failure?.code).toBe("STORE_DAMAGED");
  expect(events.logs.filter(({ level }) => level === "error")).toHaveLength(1);
  await events.stop();
  await expect(startEvents({ database: file })).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: `Database: ${file} is not a readable database`,
    field: { name: "database" },
  });
  expect(readFileSync(file, "utf8")).toBe("These are notes.");
});

it("[EV-43] damage found later is named as such, and the file is not written after that", async () => {
  const dataDir = temporaryDir();
  const first = await startEvents({ rateLimits: false }, { dataDir });
  await Promise.all(Array.from({ length: 100 }, () => post(first.url, eventBody())));
  await first.stop();
  const bytes = readFileSync(first.file);
  // The schema and the rollups are good: what is damaged shows when rows are read.
  const database = new Database(first.file);
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf' ORDER BY pageno")
    .pluck()
    .all() as number[];
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  database.close();
  for (const page of pages) bytes.fill(0xa5, (page - 1) * pageSize, page * pageSize);
  writeFileSync(first.file, bytes);
  const events = await startEvents({ rateLimits: false }, { dataDir });
  const damaged = '{"error":"Storage is damaged: events.db is not readable and was left unchanged"}';
  await curl(`${events.url}/events`);
  for (let round = 0; round < 4; round++) {
    for (const answer of [
      await curl(`${events.url}/events`),
      await curl(`${events.url}/stats`),
      await curl("-d", JSON.stringify(eventBody()), `${events.url}/events`),
    ])
      expect([answer.status, answer.body]).toEqual([503, damaged]);
  }
  expect(readFileSync(first.file).equals(bytes)).toBe(true);
  await expect.poll(() => events.view("storage").failure?.code).toBe("STORE_DAMAGED");
  expect(events.logs.filter(({ level }) => level === "error")).toHaveLength(1);
  expect(events.logs.some(({ text }) => text.includes("again"))).toBe(false);
});

it("[EV-49] when success and failure alternate, the last log line is right, and the log does not repeat every change", async () => {
  const lines: string[] = [];
  const log = createLog({ level: () => "info", write: (entry) => void lines.push(entry.text) });
  const { store, ...failing } = failingStore();
  const access = createStoreAccess({ store, log, view: () => {} });
  onEnd(access.close);
  await access.ready();
  const add = () => new Promise<unknown>((resolve) => access.commits.add(stored(), resolve)).then((error) => error && access.fault(error));
  for (let turn = 0; turn < 20; turn++) {
    failing.fail(turn % 2 === 0);
    await add();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  failing.fail(true);
  await add();
  expect(lines).toEqual(["There is no room. Free some.", "somewhere can be used again", "There is no room. Free some."]);
});

it("[EV-44] a read-only folder is 503, and the service keeps running", async () => {
  const blocker = path.join(temporaryDir(), "not-a-folder");
  writeFileSync(blocker, "");
  const { url } = await startEvents({ database: path.join(blocker, "events.db") });
  const answer = await curl(`${url}/stats`);
  expect([answer.status, answer.body]).toEqual([503, '{"error":"Storage cannot be reached: events.db"}']);
});

it("[EV-48] a file that is moved away while in use gets no more events; the next request creates another", async () => {
  const { url, file } = await startEvents();
  await postAll(url, [eventBody(), eventBody()]);
  renameSync(file, `${file}.kept`);
  for (const end of ["-wal", "-shm"]) renameSync(file + end, `${file}.kept${end}`);
  const refused = await post(url, eventBody());
  expect([refused.status, await refused.text()]).toEqual([503, '{"error":"Storage cannot be reached: events.db"}']);
  await postAll(url, [eventBody()]);
  expect((await getPage(url)).total).toBe(1);
  expect(checkFile(`${file}.kept`).events).toBe(2);
});

it("[EV-48] a deletion does not empty a file that was moved away; the page gets an error, and the next request opens the new file", async () => {
  const events = await startEvents();
  await postAll(events.url, [eventBody(), eventBody()]);
  renameSync(events.file, `${events.file}.kept`);
  for (const end of ["-wal", "-shm"]) renameSync(events.file + end, `${events.file}.kept${end}`);
  await events.act("delete.start");
  await expect.poll(() => events.view("jobs")[0]).toMatchObject({ state: "failed", done: 0, failure: { code: "STORE_UNREACHABLE" } });
  expect(await getStats(events.url)).toMatchObject({ total_events: 0 });
  expect(checkFile(`${events.file}.kept`).events).toBe(2);
});
