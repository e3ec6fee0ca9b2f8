import path from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { createPostgresStore } from "../../servers/events/store/postgres-store.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { hasPostgres, missing, type RealServer, startPostgres } from "../support/real-servers.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { onEnd } from "./harness.ts";
import { start, storeContract } from "./store-contract.ts";

const log = createLog({ level: () => "error", write: () => {} });
// The minutes of the plots are kept for two days: those of the test must not be old.
const now = () => start + 3_600_000;

async function opened(store: EventStore): Promise<EventStore> {
  onEnd(() => store.close());
  await store.open();
  return store;
}

storeContract("SQLite", () => opened(createSqliteStore({ file: path.join(temporaryDir(), "events.db"), log, now })));

describe.skipIf(missing("PostgreSQL", "postgresql", hasPostgres()))("PostgreSQL", () => {
  let server: RealServer;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  storeContract("its store", async () => {
    const { default: pg } = await import("pg");
    const name = `contract${++databases}`;
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return opened(createPostgresStore({ url: server.url.replace(/postgres$/, name), log, now }));
  });
});
