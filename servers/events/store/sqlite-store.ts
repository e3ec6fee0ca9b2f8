import { setImmediate as nextTurn } from "node:timers/promises";
import type Sqlite from "better-sqlite3";
import type { EventFilter, EventRow } from "../../../contract/services/events.ts";
import { createPlaceCheck, notDatabase, openSqliteFile, sqliteFileError } from "../../core/files/sqlite-file.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import { type NewEvent, newEventColumns } from "../completion-event.ts";
import { createEqualCounts } from "./equal-events.ts";
import type { EventStore, Scanned, ScanRange } from "./event-store.ts";
import { createFileRefusal } from "./file-refusal.ts";
import { filterSql, sqliteDialect } from "./filter-sql.ts";
import { LogRoom } from "./log-room.ts";
import { sumOfSlices } from "./plot-slices.ts";
import { type RollupSource, rollUp } from "./rollup.ts";
import { between } from "./sqlite-device-pages.ts";
import { migrateSqlite } from "./sqlite-migration.ts";
import { createSqlitePages } from "./sqlite-pages.ts";
import { createSqlitePlots, type Plotted } from "./sqlite-plots.ts";
import { createSqliteRollups } from "./sqlite-rollups.ts";
import { createSqliteScans } from "./sqlite-scans.ts";
import { createSqliteTimeScans, type SecondPart, type SecondPlace } from "./sqlite-time-scans.ts";
import { coverTime } from "./time-cover.ts";

export interface SqliteStoreOptions {
  readonly file: string;
  readonly log: Log;
  /** The file does not grow beyond it; 0 is no limit. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

/** Longest time for reading the events of seconds in one turn of the event loop. */
const equalTurnMs = 8;

export function createSqliteStore(options: SqliteStoreOptions): EventStore {
  const { file, log, now = Date.now } = options;
  let opened: ReturnType<typeof prepare> | undefined;
  let checkInPlace = (): void => {};
  const refusal = createFileRefusal(file, now);

  /** Runs with the open database, and turns SQLite's errors into STORE_ errors. */
  function guarded<Result>(use: (parts: ReturnType<typeof prepare>) => Result): Promise<Result> {
    try {
      refusal.check();
      if (!opened) throw new ServiceError("STORE_UNREACHABLE", `${file} is not open`, "Open it first.");
      return Promise.resolve(use(opened));
    } catch (error) {
      const known = sqliteFileError(error, file);
      if (known instanceof ServiceError && known.code === "STORE_DAMAGED" && opened) {
        closeFile();
        refusal.remember(known);
      }
      return Promise.reject(known);
    }
  }

  function closeFile(): void {
    const closing = opened;
    opened = undefined;
    closing?.database.close();
  }

  return {
    kind: "sqlite",
    place: file,
    problemBefore: () => notDatabase(file),
    async open() {
      if (opened) return;
      refusal.check();
      let copy: string | undefined;
      try {
        const database = await openSqliteFile(file, {
          // A 201 means that the event is on disk.
          synchronous: "FULL",
          prepare(unchanged) {
            unchanged.pragma("temp_store = MEMORY");
            unchanged.pragma("cache_size = -32768");
            unchanged.pragma("journal_size_limit = 67108864");
            if (options.maxBytes) unchanged.pragma(`max_page_count = ${Math.max(1, Math.floor(options.maxBytes / pageSize(unchanged)))}`);
            copy = migrateSqlite(unchanged, file);
          },
        });
        try {
          opened = prepare(database, now, new LogRoom(database, file, now));
          checkInPlace = createPlaceCheck(file, "The next request opens the file that is then in its place.");
        } catch (error) {
          database.close();
          throw sqliteFileError(error, file);
        }
      } catch (error) {
        refusal.remember(error);
        throw error;
      }
      if (copy) log.notable(`Migrated ${file}; the original file is ${copy}`);
    },
    add: (events) =>
      guarded(({ add }) => {
        checkInPlace();
        add(events);
      }),
    async page(filter, part, turn = nextTurn) {
      if (!filter.device_id) return guarded(({ pages }) => pages.page(filter.outcome, part));
      const rows: EventRow[] = [];
      for (let rest = await guarded(({ pages }) => pages.ofDevice.begin(filter, part)); rest; ) {
        const walk = rest;
        const step = await guarded(({ pages }) => pages.ofDevice.step(filter, walk));
        rows.push(...step.found);
        rest = step.rest;
        if (rest) await turn();
        else if (walk.direction === "ascending") rows.reverse();
      }
      return rows;
    },
    count: (filter) => guarded(({ pages }) => pages.count(filter)),
    stats: () => guarded(({ stats }) => stats()),
    newestId: () => guarded(({ newestId }) => newestId.get() as number),
    devices: (prefix, limit) =>
      guarded(({ devices }) => devices.all(prefix, `${prefix}\u{10ffff}`, limit) as { device_id: string; events: number }[]),
    scan: (filter, range) => guarded(({ scans }) => scans.scan(filter, range)),
    scanInTime: (filter, range) => guarded(({ timeScans }) => timeScans.scan(filter, range)),
    async countEqual(events, upTo) {
      const counts = createEqualCounts(events);
      let turnAt = performance.now();
      for (const at of counts.times) {
        for (let from: number | undefined = -1; from !== undefined; ) {
          const place: SecondPlace = { at, from, upTo };
          const part: SecondPart = await guarded(({ timeScans }) => timeScans.ofSecond(place));
          for (const values of part.found) counts.count(values);
          from = part.reached;
          if (performance.now() - turnAt < equalTurnMs) continue;
          await nextTurn();
          turnAt = performance.now();
        }
      }
      return counts.result();
    },
    countBetween: (filter, range) => guarded(({ scans }) => scans.countBetween(filter, range)),
    plotBetween: (filter, step, range) => guarded(({ scans }) => scans.plotBetween(filter, step, range)),
    remove: (filter, range) =>
      guarded(({ remove }) => {
        checkInPlace();
        return remove(filter, range);
      }),
    catchUpPlots: () => guarded(({ catchUpPlots }) => catchUpPlots()),
    plot: (query) => guarded(({ plots }) => plots.read(query)),
    async countPlotted(filter, time) {
      const { spans, edges } = coverTime(time, now());
      return { found: await sumOfSlices(spans, (place) => guarded(({ plots }) => plots.sum(place, filter))), edges };
    },
    async close() {
      closeFile();
    },
  };
}

const pageSize = (database: Sqlite.Database) => database.pragma("page_size", { simple: true }) as number;

/** All operations on the open file; everything here is synchronous and throws SQLite's errors. */
function prepare(database: Sqlite.Database, now: () => number, logRoom: LogRoom) {
  const rollups = createSqliteRollups(database);
  const plots = createSqlitePlots(database, rollups);
  const insert = database.prepare(
    `INSERT INTO events (${newEventColumns.join(", ")}) VALUES (${newEventColumns.map(() => "?").join(", ")})`,
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const newestId = database.prepare("SELECT coalesce(max(id), 0) FROM events").pluck();
  const outcomes = database.prepare("SELECT outcome, sum(n) FROM roll_day GROUP BY outcome").raw();
  const devices = database.prepare(
    "SELECT device_id, sum(n) AS events FROM roll_device WHERE device_id >= ? AND device_id < ? GROUP BY device_id LIMIT ?",
  );
  // A filter has few shapes; each is compiled once.
  const statements = new BoundedCache<string, Sqlite.Statement>(200);
  const prepare = (text: string) => database.prepare(text);
  const sql = (text: string) => statements.get(text, prepare);
  const scans = createSqliteScans(sql);
  const timeScans = createSqliteTimeScans(sql);

  const pages = createSqlitePages(sql);

  function inTransaction<Result>(work: () => Result): Result {
    try {
      logRoom.look();
      begin.run();
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      logRoom.failed(error);
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
      ).all(...values, range.from ?? -1, counted.reached) as (RollupSource & Plotted)[];
      rollups.subtract(rollUp(gone, (index) => (gone[index] as { id: number }).id));
      plots.uncount(gone);
      return { ...counted, found: gone.length };
    });
  }

  const catchUpPlots = () => (newestId.get() === rollups.counter("plotted") ? 0 : inTransaction(() => plots.catchUp(now())));

  return { database, newestId, devices, plots, scans, timeScans, pages, add, stats, remove, catchUpPlots };
}
