import { isLockedByOther } from "../../core/files/sqlite-file.ts";

interface Waiting {
  readonly sinceMs: number;
  readonly act: () => void;
  readonly reject: (error: unknown) => void;
}

const retriedMs = 2_000;
const betweenTriesMs = 25;
/** Of writes that waited, before everything else has its turn. */
const turnMs = 4;

/** Writes to a database that another program may hold: those that wait are tried again one after another, and everything else goes on meanwhile. */
export class WaitingWrites {
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Rejects with what `act` throws: SQLite's SQLITE_BUSY once it has waited for two seconds. `act` changes nothing when it throws. */
  run<Result>(act: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ sinceMs: performance.now(), act: () => resolve(act()), reject });
      if (this.#waiting.length === 1) this.#goOn();
    });
  }

  readonly #goOn = (): void => {
    const nowMs = performance.now();
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      try {
        next.act();
      } catch (error) {
        if (isLockedByOther(error)) {
          while (this.#waiting[0] && nowMs - this.#waiting[0].sinceMs >= retriedMs) this.#waiting.shift()?.reject(error);
          if (this.#waiting.length > 0) this.#timer = setTimeout(this.#goOn, betweenTriesMs);
          return;
        }
        next.reject(error);
      }
      this.#waiting.shift();
      if (this.#waiting.length > 0 && performance.now() - nowMs >= turnMs) {
        this.#timer = setTimeout(this.#goOn, 0);
        return;
      }
    }
  };

  /** What waits is rejected. */
  close(error: unknown): void {
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
