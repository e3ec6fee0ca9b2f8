export interface SseTickers {
  /** Calls back at each tick of this interval with the tick's time; returns what ends it. */
  join(intervalMs: number, onTick: (timestamp: number) => void): () => void;
  close(): void;
}

/** What ticks may take of one turn of the event loop. */
const turnMs = 4;

interface Ticker {
  readonly timer: NodeJS.Timeout;
  readonly members: Set<(timestamp: number) => void>;
}

/** One timer for all who want the same interval: a timer each costs half as much again with a thousand subscribers. */
export function createSseTickers(): SseTickers {
  const tickers = new Map<number, Ticker>();

  function start(intervalMs: number): Ticker {
    const members: Ticker["members"] = new Set();
    let beating = false;
    /** In turns, so that many streams of short intervals do not keep others waiting. */
    function beat(timestamp: number, waiting: Iterator<(timestamp: number) => void>): void {
      const until = performance.now() + turnMs;
      for (;;) {
        const { done, value: onTick } = waiting.next();
        beating = !done;
        if (done) return;
        onTick(timestamp);
        if (performance.now() < until) continue;
        setImmediate(beat, timestamp, waiting);
        return;
      }
    }
    const timer = setInterval(() => {
      // A tick that has not come to all of its members by the next one takes that one's place.
      if (!beating) beat(Date.now(), members.values());
    }, intervalMs);
    const ticker = { timer, members };
    tickers.set(intervalMs, ticker);
    return ticker;
  }

  return {
    join(intervalMs, onTick) {
      const ticker = tickers.get(intervalMs) ?? start(intervalMs);
      ticker.members.add(onTick);
      return () => {
        ticker.members.delete(onTick);
        if (ticker.members.size > 0) return;
        clearInterval(ticker.timer);
        if (tickers.get(intervalMs) === ticker) tickers.delete(intervalMs);
      };
    },
    close() {
      for (const { timer } of tickers.values()) clearInterval(timer);
      tickers.clear();
    },
  };
}
