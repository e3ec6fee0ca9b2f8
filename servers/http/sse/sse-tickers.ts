import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";

/** Called at a tick with the tick's time. */
type OnTick = (timestamp: number) => void;

export interface SseTickers {
  /** Calls back at each tick of this interval, in the turns of the connection; returns the function that ends it. A tick that comes before all have had the one before is left out. */
  join(intervalMs: number, work: WorkConnection, onTick: OnTick): () => void;
  close(): void;
}

/** Members that share a connection of work. */
class Group {
  readonly members = new Set<OnTick>();
  readonly #share: WorkShare;
  #timestamp = 0;
  /** Of the tick, those that are still to have it. */
  #left: Iterator<OnTick> | undefined;

  constructor(work: WorkConnection) {
    this.#share = work.join(this.#goOn);
  }

  tick(timestamp: number): void {
    if (this.#left) return;
    this.#timestamp = timestamp;
    this.#left = this.members.values();
    this.#goOn();
  }

  readonly #goOn = (): void => {
    while (this.#left) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      const { done, value: onTick } = this.#left.next();
      if (done) this.#left = undefined;
      else onTick(this.#timestamp);
    }
  };
}

interface Ticker {
  readonly timer: NodeJS.Timeout;
  readonly groups: Map<WorkConnection, Group>;
}

/** One timer per interval, shared: with a thousand subscribers a timer for each costs half as much again. */
export function createSseTickers(): SseTickers {
  const tickers = new Map<number, Ticker>();

  function start(intervalMs: number): Ticker {
    const groups: Ticker["groups"] = new Map();
    const timer = setInterval(() => {
      const timestamp = Date.now();
      for (const group of groups.values()) group.tick(timestamp);
    }, intervalMs);
    const ticker = { timer, groups };
    tickers.set(intervalMs, ticker);
    return ticker;
  }

  return {
    join(intervalMs, work, onTick) {
      const ticker = tickers.get(intervalMs) ?? start(intervalMs);
      const { groups, timer } = ticker;
      const group = groups.get(work) ?? new Group(work);
      groups.set(work, group);
      group.members.add(onTick);
      return () => {
        group.members.delete(onTick);
        if (group.members.size > 0) return;
        groups.delete(work);
        if (groups.size > 0) return;
        clearInterval(timer);
        if (tickers.get(intervalMs) === ticker) tickers.delete(intervalMs);
      };
    },
    close() {
      for (const { timer } of tickers.values()) clearInterval(timer);
      tickers.clear();
    },
  };
}
