export interface SseTickers {
  /** Calls back at each tick of this interval with the tick's time; returns the function that ends it. What takes long is for the caller to defer. */
  join(intervalMs: number, onTick: (timestamp: number) => void): () => void;
  close(): void;
}

interface Ticker {
  readonly timer: NodeJS.Timeout;
  readonly members: Set<(timestamp: number) => void>;
}

/** One timer per interval, shared: with a thousand subscribers a timer for each costs half as much again. */
export function createSseTickers(): SseTickers {
  const tickers = new Map<number, Ticker>();

  function start(intervalMs: number): Ticker {
    const members: Ticker["members"] = new Set();
    const timer = setInterval(() => {
      const timestamp = Date.now();
      for (const onTick of members) onTick(timestamp);
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
