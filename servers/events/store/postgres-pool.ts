import type { Pool } from "pg";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";

const bigintOid = 20;
const mostConnections = 6;
const connectTimeoutMs = 3_000;

export async function createPostgresPool({ url, place, log }: { url: string; place: string; log: Log }): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: url,
    max: mostConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    application_name: "backlot events",
    // Counts and ids stay below 2^53.
    types: { getTypeParser: (oid, format) => (oid === bigintOid ? Number : pg.types.getTypeParser(oid, format)) as never },
  });
  // An idle connection broke; the next query opens another.
  pool.on("error", (error) => log.warning(`${place}: ${error.message}`));
  return pool;
}

/** Host and database, for people; never the password. Throws CONFIG_INVALID. */
export function postgresPlace(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `PostgreSQL ${hostname || "localhost"}${port && `:${port}`}${pathname}`;
  } catch {
    throw new ServiceError(
      "CONFIG_INVALID",
      "EVENTS_DB begins like a PostgreSQL address but is not valid",
      "Write postgres://user:password@host:5432/database.",
    );
  }
}
