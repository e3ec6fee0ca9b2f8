import path from "node:path";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { databasePlace } from "./database-place.ts";
import type { EventStore } from "./event-store.ts";
import { createPostgresStore } from "./postgres-store.ts";
import { createSqliteStore } from "./sqlite-store.ts";

export interface StoreConfig {
  /** See `databasePlace`; empty for `events.db` in the data folder. */
  readonly database: string;
  readonly maxMebibytes: number;
  /** How long PostgreSQL may take to answer a statement. */
  readonly databaseSeconds: number;
}

/** Throws CONFIG_INVALID. */
export function createStore({ database, maxMebibytes, databaseSeconds }: StoreConfig, dataDir: () => string, log: Log): EventStore {
  const place = databasePlace(database);
  const sqlite = (file: string) => createSqliteStore({ file, log, maxBytes: maxMebibytes * 1_048_576 });
  switch (place.kind) {
    case "standard":
      return sqlite(path.join(dataDir(), "events.db"));
    case "file":
      return sqlite(path.resolve(place.file));
    case "postgres":
      return createPostgresStore({ url: place.url, log, answerMs: databaseSeconds * 1_000 });
    case "unknown":
      throw new ServiceError("CONFIG_INVALID", "EVENTS_DB is not a valid database", place.problem);
  }
}
