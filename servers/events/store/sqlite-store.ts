import { statSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { type EventFilter, type EventRow, eventColumns } from "../../../contract/events.ts";
import type { Log } from "../../core/log.ts";
import { ServiceError } from "../../core/service-error.ts";
import { openSqliteFile, sqliteFileError } from "../../core/sqlite-file.ts";
import { type NewEvent, newEventColumns } from "../completion-event.ts";
import type { EventStore, KeyFilter, PlotFilter, Scanned, ScanRange } from "./event-store.ts";
import { filterSql, sqliteDialect } from "./filter-sql.ts";
import { lastIdOf, type RollupSource, rollUp } from "./rollup.ts";
import { migrateSqlite } from "./sqlite-migration.ts";
import { createSqlitePlots } from "./sqlite-plots.ts";
import { createSqliteRollups } from "./sqlite-rollups.ts";
import { between, createSqliteScans } from "./sqlite-scans.ts";
import type { TimeRange } from "./time-cover.ts";

export interface SqliteStoreOptions {
  readonly file: string;
  readonly log: Log;
  /** The file does not grow beyond it; 0 is no limit. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

/** Whoever can wait longer for another program does so outside, without holding up the process. */
const busyMs = 5;
const columns = eventColumns.join(", ");

export function createSqliteStore(options: SqliteStoreOptions): EventStore {
  const { file, log, now = Date.now } = options;
  let opened: ReturnType<typeof prepare> | undefined;
  let identity = "";

  /** A file that was moved or deleted would still take events, and nobody would find them. */
  function checkInPlace(): void {
    if (identityOf(file) === identity) return;
    throw new ServiceError("STORE_UNREACHABLE", `${file} was moved or deleted while in use`, "The next request opens what is there then.");
  }

  /** Runs with the open database, and says what a fault of the file means. */
  function guarded<Result>(use: (parts: ReturnType<typeof prepare>) => Result): Promise<Result> {
    try {
      if (!opened) throw new ServiceError("STORE_UNREACHABLE", `${file} is not open`, "Open it first.");
      return Promise.resolve(use(opened));
    } catch (error) {
      return Promise.reject(sqliteFileError(error, file));
    }
  }

  return {
    kind: "sqlite",
    place: file,
    async open() {
      if (opened) return;
      let copy: string | undefined;
      const database = await openSqliteFile(file, {
        // A 201 means that the event is on disk.
        synchronous: "FULL",
        busyMs,
        prepare(unchanged) {
          unchanged.pragma("temp_store = MEMORY");
          unchanged.pragma("cache_size = -32768");
          unchanged.pragma("journal_size_limit = 67108864");
          unchanged.pragma("wal_autocheckpoint = 4000");
          if (options.maxBytes) unchanged.pragma(`max_page_count = ${Math.max(1, Math.floor(options.maxBytes / pageSize(unchanged)))}`);
          copy = migrateSqlite(unchanged, file);
        },
      });
      try {
        opened = prepare(database, now);
        identity = identityOf(file);
      } catch (error) {
        database.close();
        throw sqliteFileError(error, file);
      }
      if (copy) log.notable(`Brought ${file} up to date; the file as it was is ${copy}`);
    },
    add: (events) =>
      guarded(({ add }) => {
        checkInPlace();
        add(events);
      }),
    page: (filter, part) => guarded(({ page }) => page(filter, part)),
    count: (filter) => guarded(({ count }) => count(filter)),
    stats: () => guarded(({ stats }) => stats()),
    newestId: () => guarded(({ newestId }) => newestId.get() as number),
    devices: (prefix, limit) =>
      guarded(({ devices }) => devices.all(prefix, `${prefix}\u{10ffff}`, limit) as { device_id: string; events: number }[]),
    scan: (filter, range) => guarded(({ scans }) => scans.scan(filter, range)),
    countBetween: (filter, range) => guarded(({ scans }) => scans.countBetween(filter, range)),
    plotBetween: (filter, step, range) => guarded(({ scans }) => scans.plotBetween(filter, step, range)),
    remove: (filter, range) => guarded(({ remove }) => remove(filter, range)),
    catchUpPlots: () => guarded(({ catchUpPlots }) => catchUpPlots()),
    plot: (query) => guarded(({ plots }) => plots.read(query)),
    countPlotted: (filter, time) => guarded(({ countPlotted }) => countPlotted(filter, time)),
    async close() {
      opened?.database.close();
      opened = undefined;
    },
  };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}` : "";
}

const pageSize = (database: Sqlite.Database) => database.pragma("page_size", { simple: true }) as number;

/** All that works on the open file; everything here is synchronous and throws SQLite's errors. */
function prepare(database: Sqlite.Database, now: () => number) {
  const rollups = createSqliteRollups(database);
  const plots = createSqlitePlots(database, rollups);
  const insert = database.prepare(
    `INSERT INTO events (${newEventColumns.join(", ")}) VALUES (${newEventColumns.map(() => "?").join(", ")})`,
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const newestId = database.prepare("SELECT coalesce(max(id), 0) FROM events").pluck();
  const blocks = database.prepare("SELECT block, sum(n) FROM roll_block GROUP BY block ORDER BY block DESC").raw();
  const blocksOfOutcome = database.prepare("SELECT block, n FROM roll_block WHERE outcome = ? ORDER BY block DESC").raw();
  const outcomes = database.prepare("SELECT outcome, sum(n) FROM roll_day GROUP BY outcome").raw();
  const devices = database.prepare(
    "SELECT device_id, sum(n) AS events FROM roll_device WHERE device_id >= ? AND device_id < ? GROUP BY device_id LIMIT ?",
  );
  // A filter has few shapes; each is compiled once.
  const cached = new Map<string, Sqlite.Statement>();
  const sql = (text: string) => {
    let statement = cached.get(text);
    if (!statement) {
      if (cached.size >= 200) cached.clear();
      statement = database.prepare(text);
      cached.set(text, statement);
    }
    return statement;
  };
  const scans = createSqliteScans(sql);

  function inTransaction<Result>(work: () => Result): Result {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      if (database.inTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  function add(events: readonly NewEvent[]): void {
    inTransaction(() => {
      const ids = events.map((event) => Number(insert.run(...newEventColumns.map((column) => event[column])).lastInsertRowid));
      rollups.add(rollUp(events, (index) => ids[index] as number));
    });
  }

  function count({ device_id, outcome }: KeyFilter): number {
    const { where, values } = filterSql({ device_id, outcome }, sqliteDialect);
    const table = device_id ? "roll_device" : "roll_day";
    return sql(`SELECT coalesce(sum(n), 0) FROM ${table} WHERE ${where}`)
      .pluck()
      .get(...values) as number;
  }

  function page(filter: KeyFilter, { limit, offset, after }: { limit: number; offset: number; after?: number | undefined }): EventRow[] {
    const { where, values } = filterSql({ device_id: filter.device_id, outcome: filter.outcome }, sqliteDialect);
    if (after !== undefined) {
      return sql(`SELECT ${columns} FROM events WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`).all(
        ...values,
        after,
        limit,
        offset,
      ) as EventRow[];
    }
    if (filter.device_id) return pageOfDevice(where, values, count(filter), limit, offset);
    const start = offset === 0 ? { top: Number.MAX_SAFE_INTEGER, left: 0 } : skipBlocks(filter.outcome, offset);
    if (!start) return [];
    return sql(`SELECT ${columns} FROM events WHERE ${where} AND id <= ? ORDER BY id DESC LIMIT ? OFFSET ?`).all(
      ...values,
      start.top,
      limit,
      start.left,
    ) as EventRow[];
  }

  /** The newest block in which the offset ends, and what is left to skip there. */
  function skipBlocks(outcome: string | undefined, offset: number): { top: number; left: number } | undefined {
    let left = offset;
    const rows = (outcome ? blocksOfOutcome.iterate(outcome) : blocks.iterate()) as Iterable<[number, number]>;
    for (const [block, events] of rows) {
      if (left < events) return { top: lastIdOf(block), left };
      left -= events;
    }
    return undefined;
  }

  /** Skips within the index, from whichever end is nearer, and reads only the rows of the page. */
  function pageOfDevice(where: string, values: readonly (string | number)[], total: number, limit: number, offset: number): EventRow[] {
    const rows = Math.min(limit, total - offset);
    if (rows <= 0) return [];
    const fromOldest = offset > total / 2;
    const ids = `SELECT id FROM events WHERE ${where} ORDER BY id ${fromOldest ? "ASC" : "DESC"} LIMIT ? OFFSET ?`;
    const skip = fromOldest ? total - offset - rows : offset;
    return sql(`SELECT ${columns} FROM events WHERE id IN (${ids}) ORDER BY id DESC`).all(...values, rows, skip) as EventRow[];
  }

  function stats() {
    const byOutcome = new Map(outcomes.all() as [string, number][]);
    let total = 0;
    for (const events of byOutcome.values()) total += events;
    return {
      total_events: total,
      unique_devices: rollups.counter("devices"),
      accepted: byOutcome.get("accepted") ?? 0,
      rejected: byOutcome.get("rejected") ?? 0,
      ignored: byOutcome.get("ignored") ?? 0,
    };
  }

  function remove(filter: EventFilter, range: Omit<ScanRange, "direction">): Scanned<number> {
    return inTransaction(() => {
      const counted = scans.countBetween(filter, { ...range, direction: "ascending" });
      if (counted.found === 0) return counted;
      const { where, values } = filterSql(filter, sqliteDialect);
      const gone = sql(
        `DELETE FROM events WHERE ${where} AND ${between(true)} RETURNING id, created_at, device_id, outcome, language, provider`,
      ).all(...values, range.from ?? -1, counted.reached) as (RollupSource & Pick<EventRow, "id" | "language" | "provider">)[];
      rollups.subtract(rollUp(gone, (index) => (gone[index] as { id: number }).id));
      const plotted = rollups.counter("plotted");
      const lower = sql("UPDATE roll_plot SET n = n - 1 WHERE step = ? AND at = ? AND language = ? AND provider = ? AND outcome = ?");
      for (const { id, created_at, language, provider, outcome } of gone) {
        if (id > plotted) continue;
        lower.run("day", created_at.slice(0, 10), language, provider, outcome);
        lower.run("hour", created_at.slice(0, 13), language, provider, outcome);
        lower.run("minute", created_at.slice(0, 16), language, provider, outcome);
      }
      return { ...counted, found: gone.length };
    });
  }

  const countPlotted = (filter: PlotFilter, time: TimeRange) => plots.count(filter, time, now());
  const catchUpPlots = () => (newestId.get() === rollups.counter("plotted") ? 0 : inTransaction(() => plots.catchUp(now())));

  return { database, newestId, devices, plots, scans, add, page, count, stats, remove, countPlotted, catchUpPlots };
}
