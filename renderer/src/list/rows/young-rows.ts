export interface YoungRows<Row> {
  /** Returns `waits`: the row waits from now on, or since it was first taken, or no longer. */
  takes(key: string, row: Row, waits: boolean): boolean;
  /** Removes and returns the rows that have waited long enough. */
  takeGrown(): Row[];
  clear(): void;
}

/**
 * Open rows that join a list of open ones if they do not end before. Most calls were open only for the moment in which a batch of rows was sent, and
 * would move the other rows twice. `onGrown` is called when there are rows to take.
 */
export function createYoungRows<Row>(openMs: number, onGrown: () => void): YoungRows<Row> {
  /** In the order of their times. */
  const young = new Map<string, { readonly row: Row; readonly joinsAt: number }>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    takes(key, row, waits) {
      if (waits) {
        young.set(key, { row, joinsAt: young.get(key)?.joinsAt ?? performance.now() + openMs });
        timer ??= setTimeout(onGrown, openMs);
      } else young.delete(key);
      return waits;
    },
    takeGrown() {
      stopTimer();
      const grown: Row[] = [];
      const now = performance.now();
      for (const [key, { row, joinsAt }] of young) {
        if (joinsAt > now) {
          timer = setTimeout(onGrown, joinsAt - now);
          break;
        }
        young.delete(key);
        grown.push(row);
      }
      return grown;
    },
    clear() {
      stopTimer();
      young.clear();
    },
  };
}
