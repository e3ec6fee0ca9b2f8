import path from "node:path";
import type { Log } from "../../core/log.ts";
import type { EventStore } from "./event-store.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { createSqliteStore } from "./sqlite-store.ts";

export interface StoreConfig {
  /** A file, postgres://…, or empty for `events.db` in the data folder. */
  readonly database: string;
  readonly maxMebibytes: number;
}

export function createStore({ database, maxMebibytes }: StoreConfig, dataDir: () => string, log: Log): EventStore {
  if (/^postgres(?:ql)?:\/\//i.test(database)) return createPostgresStore({ url: database, log });
  const file = database === "" ? path.join(dataDir(), "events.db") : path.resolve(database.replace(/^file:(?:\/\/)?/, ""));
  return createSqliteStore({ file, log, maxBytes: maxMebibytes * 1_048_576 });
}
