import type { WorkConnection, WorkShare } from "./work-connection.ts";

/** What an entry counts beside its bytes: there may be thousands of a few bytes. */
const entryBytes = 500;

interface Entry {
  readonly bytes: number;
  readonly steps: Iterator<void, void>;
}

/** What is to be done for one client, in order and in its turns. What is added while nothing waits is begun at once. */
export class WorkQueue {
  /** Of what waits, with what the entries themselves take. */
  bytes = 0;
  readonly #share: WorkShare;
  readonly #fail: (error: unknown) => void;
  readonly #waiting: Entry[] = [];
  /** At work, or waiting for its turn. */
  #isBusy = false;

  /** `fail` is called with what a step throws; what waits is lost then. */
  constructor(connection: WorkConnection, fail: (error: unknown) => void) {
    this.#fail = fail;
    this.#share = connection.join(() => this.#work());
  }

  /** Steps that each take less than a share. `bytes` are held until the last one is done. */
  add(bytes: number, steps: Iterator<void, void>): void {
    const entry = { bytes: bytes + entryBytes, steps };
    this.#waiting.push(entry);
    this.bytes += entry.bytes;
    if (!this.#isBusy) this.#work();
  }

  #work(): void {
    this.#isBusy = true;
    try {
      for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
        if (this.#share.isOver) {
          this.#share.later();
          return;
        }
        // A step may clear the queue.
        if (first.steps.next().done && this.#waiting[0] === first) {
          this.#waiting.shift();
          this.bytes -= first.bytes;
        }
      }
    } catch (error) {
      this.clear();
      this.#fail(error);
    }
    this.#isBusy = false;
  }

  /** What waits is not done. */
  clear(): void {
    this.#waiting.length = 0;
    this.bytes = 0;
  }
}
