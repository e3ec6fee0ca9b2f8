import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { countMatching } from "../../servers/events/count-matching.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { createPostgresStore } from "../../servers/events/store/postgres-store.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { createDatabase, hasPostgres, missing, type RealServer, startPostgres } from "../support/real-servers.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd } from "./harness.ts";
import { plotContract } from "./plot-contract.ts";
import { fill, manyEvents, start, storeContract, stored } from "./store-contract.ts";
import { timeOrderContract } from "./time-order-contract.ts";

const log = createLog({ level: () => "error", write: () => {} });
// The minutes of the plots are kept for two days: those of the test must not be old.
const now = () => start + 3_600_000;

async function opened(store: EventStore): Promise<EventStore> {
  onEnd(() => store.close());
  await store.open();
  return store;
}

const sqlite = () => opened(createSqliteStore({ file: path.join(temporaryDir(), "events.db"), log, now }));
storeContract("SQLite", sqlite);
plotContract("SQLite", sqlite);
timeOrderContract("SQLite", sqlite);

it("[EV-196] events that each name another language are counted into the plots some thousand at a time", async () => {
  const store = await sqlite();
  const events = 9_000;
  await fill(
    store,
    manyEvents(events).map((event, index) => ({ ...event, language: `l${index}` })),
  );
  let before = events;
  for (let left = await store.catchUpPlots(); before > 0; left = await store.catchUpPlots()) {
    expect(before - left).toBeLessThanOrEqual(4_000);
    before = left;
  }
  expect((await countMatching(store, { language: "l8999" })).matching).toBe(1);
});

it("[EV-67] a page in the order of time costs no more in a store of ten times as many events", async () => {
  const pagesCpuMs = async (count: number) => {
    const store = await sqlite();
    for (let from = 0; from < count; from += 1_000)
      await store.add(Array.from({ length: 1_000 }, (_, index) => stored({}, start - (((from + index) * 7_919) % count) * 1_000)));
    return threadCpuMs(() => {
      for (let page = 0; page < 300; page++) void store.scanInTime({}, { direction: "descending", limit: 50, skip: page });
    });
  };
  const few = await pagesCpuMs(3_000);
  expect(await pagesCpuMs(30_000)).toBeLessThan(4 * Math.max(few, 40));
});

describe.skipIf(missing("PostgreSQL", "postgresql", hasPostgres()))("PostgreSQL", () => {
  let server: RealServer;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  const postgres = async () => {
    const url = await createDatabase(server, `contract${++databases}`);
    return opened(createPostgresStore({ url, log, now }));
  };
  storeContract("its store", postgres);
  plotContract("its store", postgres);
  timeOrderContract("its store", postgres);
});
