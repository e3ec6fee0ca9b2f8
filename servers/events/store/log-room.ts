import { statfsSync } from "node:fs";
import path from "node:path";
import type Sqlite from "better-sqlite3";

/** Pages of the write-ahead log from which they are moved to the database: 16 MiB, as moving them takes the time of others. */
const usualPages = 4_000;
/** Where the disk has less room than that takes several times: else the log would take the room that the database needs for what is in the log. */
const fewPages = 100;
const littleBytes = 64 << 20;
const lookMs = 1_000;

/** Keeps the write-ahead log small on a disk with little room. */
export class LogRoom {
  readonly #database: Sqlite.Database;
  readonly #folder: string;
  readonly #now: () => number;
  #pages = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isFull = false;

  constructor(database: Sqlite.Database, file: string, now: () => number) {
    this.#database = database;
    this.#folder = path.dirname(file);
    this.#now = now;
  }

  /** Before something is stored. On a disk that was full, what is in the log is moved first: that takes little room, and frees all of the log. */
  look(): void {
    const at = this.#now();
    if (at - this.#lookedAt < lookMs && at >= this.#lookedAt) return;
    this.#lookedAt = at;
    const pages = this.#roomBytes() < littleBytes ? fewPages : usualPages;
    if (pages !== this.#pages) this.#database.pragma(`wal_autocheckpoint = ${pages}`);
    this.#pages = pages;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#database.pragma("wal_checkpoint(TRUNCATE)");
  }

  failed(error: unknown): void {
    if ((error as { code?: unknown }).code === "SQLITE_FULL") this.#isFull = true;
  }

  #roomBytes(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#folder);
      return bavail * bsize;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }
}
