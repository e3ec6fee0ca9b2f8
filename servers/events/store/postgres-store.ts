import { setTimeout as delay } from "node:timers/promises";
import type { PoolClient, QueryConfig, QueryResult } from "pg";
import { type EventFilter, type EventRow, eventColumns } from "../../../contract/services/events.ts";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { eventTime, type NewEvent } from "../completion-event.ts";
import type { EventStore, KeyFilter, PlotCount, PlotFilter, PlotKey, PlotQuery, PlotSlice, Scanned, ScanRange } from "./event-store.ts";
import { filterSql, postgresDialect } from "./filter-sql.ts";
import { edgeSql, oldPlots, type SlicePlace, sliceSql, sumOfSlices } from "./plot-slices.ts";
import { createPostgresConnections, isUnanswered, type PostgresConnections, postgresPlace } from "./postgres-pool.ts";
import { createPostgresScans, idsBetween } from "./postgres-scans.ts";
import {
  addEvents,
  clearEmptyRollups,
  countEqualEvents,
  countPlot,
  createMigrations,
  migrations,
  removeEvents,
} from "./postgres-schema.ts";
import { blockOf, lastIdOf } from "./rollup.ts";
import { stepLength, stepSource } from "./sqlite-plots.ts";
import { coverTime, hourPlotMs, minutePlotMs, type TimeRange } from "./time-cover.ts";

export interface PostgresStoreOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  readonly log: Log;
  /** How long a statement may take to be answered. */
  readonly answerMs?: number;
  readonly now?: () => number;
}

/** Number of ids that one turn counts into the plots. */
const turnIds = 16_384;
const lockTimeoutMs = 2_000;
/** A statement of a migration takes as long as the table is large. */
const migrationMs = 86_400_000;
/** Between two questions whether a lost transaction has ended. */
const askAgainMs = 50;
/**
 * Held to the end of each transaction that stores: ids become visible in their order, so that no cursor passes an event that
 * another instance has yet to commit; and two instances never deadlock on the rollups.
 */
const writeLock = "SELECT pg_advisory_xact_lock(4720831)";
const columns = eventColumns.join(", ");
const parameter = postgresDialect.parameter;

export function createPostgresStore(options: PostgresStoreOptions): EventStore {
  const { now = Date.now, log, answerMs = 10_000 } = options;
  const place = postgresPlace(options.url);
  let connections: PostgresConnections | undefined;

  async function connected<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    if (!connections) throw new ServiceError("STORE_UNREACHABLE", `${place} is not open`, "Open it first.");
    return connections.use(use);
  }

  const all = <Row>(text: string, values: readonly unknown[] = []) =>
    connected(async (client) => (await client.query(text, [...values])).rows as Row[]);

  const scans = createPostgresScans(all);

  async function inTransaction<Result>(use: (client: PoolClient) => Promise<Result>): Promise<Result> {
    let begun: Transaction | undefined;
    let used: { readonly result: Result } | undefined;
    try {
      return await connected(async (client) => {
        begun = await begin(client);
        try {
          const result = await use(client);
          used = { result };
          await client.query("COMMIT");
          return result;
        } catch (error) {
          if (!isUnanswered(error)) await client.query("ROLLBACK").catch(() => {});
          throw error;
        }
      });
    } catch (error) {
      const isLost = error instanceof ServiceError && error.code === "STORE_UNREACHABLE";
      if (begun && isLost && (await endLost(begun)) === "committed" && used) return used.result;
      throw error;
    }
  }

  async function begin(client: PoolClient): Promise<Transaction> {
    // Several statements have as many results, which the types do not know.
    const results = (await client.query(
      `BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${answerMs}; ${writeLock};
       SELECT txid_current() AS id, pg_backend_pid() AS pid`,
    )) as unknown as readonly QueryResult<Transaction>[];
    return results.at(-1)?.rows[0] as Transaction;
  }

  /**
   * What became of a transaction whose connection was lost: whether its COMMIT arrived only the server knows. One that is still open
   * there would hold its locks, and might yet be committed by what is under way: it is ended. Undefined where the server cannot be asked.
   */
  async function endLost({ id, pid }: Transaction): Promise<string | undefined> {
    const startedAt = performance.now();
    try {
      for (;;) {
        const [row] = await all<{ status: string | null }>("SELECT txid_status($1) AS status", [id]);
        if (row?.status !== "in progress" || performance.now() - startedAt > answerMs) return row?.status ?? undefined;
        await all(endBackend, [pid, id]);
        await delay(askAgainMs);
      }
    } catch {
      return undefined;
    }
  }

  async function count({ device_id, outcome }: KeyFilter): Promise<number> {
    const { where, values } = filterSql({ device_id, outcome }, postgresDialect);
    const [row] = await all<{ n: number }>(
      `SELECT coalesce(sum(n), 0)::bigint AS n FROM ${device_id ? "roll_device" : "roll_day"} WHERE ${where}`,
      values,
    );
    return row?.n ?? 0;
  }

  /** The newest block below the cursor in which the offset ends, and what is left to skip there. */
  async function skipBlocks(outcome: string | undefined, offset: number, after: number | undefined) {
    const newest = after === undefined ? Number.MAX_SAFE_INTEGER : after - 1;
    if (offset === 0 || newest < 0) return { top: newest, left: offset };
    const { where, values } = filterSql({ outcome }, postgresDialect);
    const [a, b] = [parameter(values.length + 1), parameter(values.length + 2)];
    let skipped = 0;
    if (after !== undefined) {
      // The block that contains the cursor is counted row by row; those below it are complete.
      const [cut] = await all<{ n: number }>(`SELECT count(*) AS n FROM events WHERE ${where} AND id > ${a} AND id <= ${b}`, [
        ...values,
        lastIdOf(blockOf(newest) - 1),
        newest,
      ]);
      skipped = cut?.n ?? 0;
      if (offset < skipped) return { top: newest, left: offset };
    }
    const [row] = await all<{ block: number; before: number }>(
      `SELECT block, before::bigint FROM (SELECT block, n, sum(n) OVER (ORDER BY block DESC) - n AS before
         FROM (SELECT block, sum(n) AS n FROM roll_block WHERE ${where} AND block < ${b} GROUP BY block) b) c
       WHERE before + n > ${a} ORDER BY block DESC LIMIT 1`,
      [...values, offset - skipped, after === undefined ? Number.MAX_SAFE_INTEGER : blockOf(newest)],
    );
    return row && { top: lastIdOf(row.block), left: offset - skipped - row.before };
  }

  async function page(
    filter: KeyFilter,
    { limit, offset, after }: { limit: number; offset: number; after?: number | undefined },
  ): Promise<EventRow[]> {
    const { where, values } = filterSql({ device_id: filter.device_id, outcome: filter.outcome }, postgresDialect);
    // A device's events are skipped within its index.
    const start = await skipBlocks(filter.outcome, filter.device_id ? 0 : offset, after);
    if (!start) return [];
    const skip = filter.device_id ? offset : start.left;
    const [a, b, c] = [1, 2, 3].map((position) => parameter(values.length + position));
    const ids = `SELECT id FROM events WHERE ${where} AND id <= ${a} ORDER BY id DESC LIMIT ${b} OFFSET ${c}`;
    return all(`SELECT ${columns} FROM events WHERE id IN (${ids}) ORDER BY id DESC`, [...values, start.top, limit, skip]);
  }

  async function remove(filter: EventFilter, range: Omit<ScanRange, "direction">): Promise<Scanned<number>> {
    const counted = await scans.countBetween(filter, { ...range, direction: "ascending" });
    if (counted.found === 0) return counted;
    const { where, values } = filterSql(filter, postgresDialect);
    const found = await inTransaction(async (client) => {
      const { rows } = await client.query(removeEvents(`${where} AND ${idsBetween(true, values.length + 1)}`), [
        ...values,
        range.from ?? -1,
        counted.reached,
      ]);
      for (const statement of clearEmptyRollups) await client.query(statement);
      return (rows as { found: number }[])[0]?.found ?? 0;
    });
    return { ...counted, found };
  }

  const catchUpPlots = () =>
    inTransaction(async (client) => {
      const { rows } = await client.query(
        "SELECT (SELECT n FROM roll_counter WHERE name = 'plotted') AS plotted, (SELECT coalesce(max(id), 0) FROM events) AS newest",
      );
      const { plotted, newest } = (rows as { plotted: number; newest: number }[])[0] as { plotted: number; newest: number };
      const next = (await client.query("SELECT min(id) AS id FROM events WHERE id > $1", [plotted])).rows as { id: number | null }[];
      const first = next[0]?.id ?? null;
      if (first === null) return 0;
      const upTo = Math.min(newest, first - 1 + turnIds);
      const at = now();
      await client.query(countPlot("day", 10), [plotted, upTo, ""]);
      await client.query(countPlot("hour", 13), [plotted, upTo, eventTime(at - hourPlotMs)]);
      await client.query(countPlot("minute", 16), [plotted, upTo, eventTime(at - minutePlotMs)]);
      // As many as new events can have added, so that they do not become more.
      for (const place of oldPlots(at)) {
        const last = edgeSql(postgresDialect, place, turnIds);
        const [edge] = (await client.query(last.sql, [...last.values])).rows as PlotKey[];
        const { where, values } = sliceSql(postgresDialect, place, edge, {});
        await client.query(`DELETE FROM roll_plot WHERE ${where}`, [...values]);
      }
      await client.query("UPDATE roll_counter SET n = $1 WHERE name = 'plotted'", [upTo]);
      return newest - upTo;
    });

  async function edgeOf(place: SlicePlace): Promise<PlotKey | undefined> {
    const { sql, values } = edgeSql(postgresDialect, place);
    return (await all<PlotKey>(sql, values))[0];
  }

  async function plot({ step, since, filter, below }: PlotQuery): Promise<PlotSlice<PlotCount[]>> {
    const place = { span: { step: stepSource[step], since }, below };
    const edge = await edgeOf(place);
    const { where, values } = sliceSql(postgresDialect, place, edge, filter);
    const named = `substr(at, 1, ${stepLength[step]}) AS at, language, provider, outcome, sum(n)::bigint AS events`;
    return { found: await all(`SELECT ${named} FROM roll_plot WHERE ${where} AND n > 0 GROUP BY 1, 2, 3, 4`, values), edge };
  }

  async function sumOfSlice(place: SlicePlace, filter: PlotFilter): Promise<PlotSlice<number>> {
    const edge = await edgeOf(place);
    const { where, values } = sliceSql(postgresDialect, place, edge, filter);
    const [row] = await all<{ n: number }>(`SELECT coalesce(sum(n), 0)::bigint AS n FROM roll_plot WHERE ${where}`, values);
    return { found: row?.n ?? 0, edge };
  }

  async function countPlotted(filter: PlotFilter, time: TimeRange) {
    const { spans, edges } = coverTime(time, now());
    return { found: await sumOfSlices(spans, (place) => sumOfSlice(place, filter)), edges };
  }

  return {
    kind: "postgres",
    place,
    async open() {
      if (connections) return;
      connections = await createPostgresConnections({ url: options.url, place, log, answerMs });
      try {
        await inTransaction(migrate);
      } catch (error) {
        await connections.close();
        connections = undefined;
        throw error;
      }
    },
    add: (events) =>
      inTransaction(async (client) => void (await client.query({ name: "add-events", text: addEvents, values: [asJson(events)] }))),
    page,
    count,
    async stats() {
      const rows = await all<{ outcome: string; n: number }>("SELECT outcome, sum(n)::bigint AS n FROM roll_day GROUP BY outcome");
      const [devices] = await all<{ n: number }>("SELECT n FROM roll_counter WHERE name = 'devices'");
      const of = (outcome: string) => rows.find((row) => row.outcome === outcome)?.n ?? 0;
      return {
        total_events: rows.reduce((sum, { n }) => sum + n, 0),
        unique_devices: devices?.n ?? 0,
        accepted: of("accepted"),
        rejected: of("rejected"),
        ignored: of("ignored"),
      };
    },
    async newestId() {
      return (await all<{ id: number }>("SELECT coalesce(max(id), 0) AS id FROM events"))[0]?.id ?? 0;
    },
    devices: (prefix, limit) =>
      all(
        `SELECT device_id, sum(n)::bigint AS events FROM roll_device WHERE device_id >= $1 AND device_id < $1 || U&'\\+10FFFF'
         GROUP BY device_id ORDER BY device_id LIMIT $2`,
        [prefix, limit],
      ),
    scan: scans.scan,
    scanInTime: scans.scanInTime,
    async countEqual(events, upTo) {
      const found = new Map<number, number>();
      for (const { position, found: count } of await all<{ position: number; found: number }>(countEqualEvents, [asJson(events), upTo]))
        found.set(position, count);
      return events.map((_, index) => found.get(index + 1) ?? 0);
    },
    countBetween: scans.countBetween,
    plotBetween: scans.plotBetween,
    remove,
    catchUpPlots,
    plot,
    countPlotted,
    async close() {
      await connections?.close();
      connections = undefined;
    },
  };
}

interface Transaction {
  readonly id: number;
  /** Of the server's process for it. */
  readonly pid: number;
}

/** Only while it has this transaction. */
const endBackend = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND backend_xid::text = ($2::bigint % 4294967296)::text`;

async function migrate(client: PoolClient): Promise<void> {
  await client.query(createMigrations);
  const { rows } = await client.query("SELECT id FROM _migrations");
  const applied = new Set((rows as { id: number }[]).map(({ id }) => id));
  for (const { id, name, statements } of migrations) {
    if (applied.has(id)) continue;
    for (const text of statements) await client.query({ text, query_timeout: migrationMs } as QueryConfig);
    await client.query("INSERT INTO _migrations (id, name) VALUES ($1, $2)", [id, name]);
  }
}

/** PostgreSQL's text holds every character but U+0000. */
const asJson = (events: readonly NewEvent[]) =>
  JSON.stringify(events, (_key, value: unknown) => (typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value));
