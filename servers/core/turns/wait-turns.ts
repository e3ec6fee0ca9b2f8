interface Share {
  readonly isOver: boolean;
  later(): void;
}

/** Of `WorkTurns`. */
interface Connection {
  join(goOn: () => void): Share;
}

interface Wait {
  readonly connection: Connection;
  readonly act: () => void;
}

/** Of one millisecond. */
interface Due {
  readonly timer: NodeJS.Timeout;
  readonly waits: Set<Wait>;
}

/** Node's timers: a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Waits of connections. Thousands may end at once, and those whose time has come have it in the turns of all. */
export class WaitTurns {
  readonly #dueAt = new Map<number, Due>();
  /** Their time has come. */
  readonly #over: Set<Wait>[] = [];
  readonly #share: Share;

  /** `service` is that of the service itself: it wakes the others. */
  constructor(service: Connection) {
    this.#share = service.join(() => this.#wake());
  }

  /** Calls back once, in the connection's turn. Returns the function that ends the wait. */
  begin(milliseconds: number, connection: Connection, act: () => void): () => void {
    const nowMs = performance.now();
    const dueMs = Math.ceil(nowMs + milliseconds);
    const due = this.#dueAt.get(dueMs) ?? this.#add(dueMs, dueMs - nowMs);
    const wait = { connection, act };
    due.waits.add(wait);
    return () => {
      due.waits.delete(wait);
      if (due.waits.size > 0 || this.#dueAt.get(dueMs) !== due) return;
      clearTimeout(due.timer);
      this.#dueAt.delete(dueMs);
    };
  }

  #add(dueMs: number, leftMs: number): Due {
    const waits = new Set<Wait>();
    const timer = setTimeout(
      () => {
        this.#dueAt.delete(dueMs);
        this.#over.push(waits);
        if (this.#over.length === 1) this.#wake();
      },
      Math.min(leftMs, longestTimerMs),
    );
    const due = { timer, waits };
    this.#dueAt.set(dueMs, due);
    return due;
  }

  #wake(): void {
    for (let waits = this.#over[0]; waits; waits = this.#over[0]) {
      for (const wait of waits) {
        if (this.#share.isOver) {
          this.#share.later();
          return;
        }
        waits.delete(wait);
        // Not at once: what it goes on with in promises is done before the next one.
        wait.connection.join(wait.act).later();
      }
      this.#over.shift();
    }
  }

  /** What waits is not done. */
  close(): void {
    for (const { timer } of this.#dueAt.values()) clearTimeout(timer);
    this.#dueAt.clear();
    this.#over.length = 0;
  }
}
