import { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { postgresStoreError } from "./store-error.ts";

const bigintOid = 20;
const mostConnections = 6;
const connectTimeoutMs = 3_000;
/** How long the goodbyes of connections may take that are not needed any more. */
const goodbyeMs = 1_000;
/** What pg says of a query that has had no answer in `query_timeout`. */
const unanswered = "Query read timeout";

export interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly place: string;
  readonly log: Log;
  /** How long a statement may take to be answered; the connection counts as lost then. */
  readonly answerMs: number;
}

export interface PostgresConnections {
  /**
   * Lends a connection, which is closed if that fails. Throws STORE_… errors. Where a statement got no answer, no connection of that time
   * is lent again: what lost one, such as a database that moved or a gateway that forgot it, has most likely lost those that idle as well.
   */
  use<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result>;
  /** Nothing is under way but what may be cut off. */
  close(): Promise<void>;
}

interface Connections {
  readonly pool: Pool;
  readonly sockets: Set<Socket>;
}

export async function createPostgresConnections(options: PostgresOptions): Promise<PostgresConnections> {
  const { url, place, log, answerMs } = options;
  const { default: pg } = await import("pg");
  let current = connect();
  /** Those that were given up, until their end. */
  const former = new Map<Connections, Promise<void>>();
  let isClosed = false;

  function connect(): Connections {
    const sockets = new Set<Socket>();
    const pool = new pg.Pool({
      connectionString: url,
      max: mostConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      query_timeout: answerMs,
      // One that idles is found lost, and a gateway does not forget it.
      keepAlive: true,
      keepAliveInitialDelayMillis: answerMs,
      stream() {
        const socket = new Socket();
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        return socket;
      },
      application_name: "backlot events",
      // Counts and ids stay below 2^53.
      types: { getTypeParser: (oid, format) => (oid === bigintOid ? Number : pg.types.getTypeParser(oid, format)) as never },
    });
    // An idle connection broke; the next query opens another.
    pool.on("error", (error) => log.warning(`${place}: ${error.message}`));
    // One that is lent has no listener of the pool. Its query fails, and says so.
    pool.on("connect", (client) => client.on("error", () => {}));
    return { pool, sockets };
  }

  /** Waits for what is under way. A lost connection never answers a goodbye. */
  async function end({ pool, sockets }: Connections): Promise<void> {
    await pool.end();
    await closed(sockets);
  }

  async function closed(sockets: ReadonlySet<Socket>): Promise<void> {
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, goodbyeMs);
    // One may be reset meanwhile: its error has a listener of pg, and its "close" follows.
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    clearTimeout(deadline);
  }

  function giveUp(connections: Connections): void {
    if (connections !== current || isClosed) return;
    current = connect();
    former.set(
      connections,
      end(connections).then(() => void former.delete(connections)),
    );
  }

  async function lend(): Promise<{ connections: Connections; client: PoolClient }> {
    const connections = current;
    try {
      return { connections, client: await connections.pool.connect() };
    } catch (error) {
      // It waited for one of those that were given up.
      if (connections !== current) return lend();
      throw postgresStoreError(error, place);
    }
  }

  return {
    async use(work) {
      const { connections, client } = await lend();
      let failed = false;
      try {
        return await work(client);
      } catch (error) {
        failed = true;
        if (!isUnanswered(error)) throw postgresStoreError(error, place);
        giveUp(connections);
        throw new ServiceError(
          "STORE_UNREACHABLE",
          `${place} has not answered for ${answerMs / 1_000} s`,
          "Check that PostgreSQL runs and can be reached. If it is only slow, raise EVENTS_DB_SECONDS.",
          { cause: error },
        );
      } finally {
        // A connection in an unknown state is not used again.
        client.release(failed);
      }
    },
    async close() {
      isClosed = true;
      const ends = [end(current), ...former.values()];
      await Promise.all([current, ...former.keys()].map(({ sockets }) => closed(sockets)));
      await Promise.all(ends);
    },
  };
}

/** Whether a statement got no answer in time: its connection waits for that, and takes no other. */
export const isUnanswered = (error: unknown): boolean => error instanceof Error && error.message === unanswered;

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
