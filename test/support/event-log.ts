export interface EventLog<Item> {
  readonly items: readonly Item[];
  add(item: Item): void;
  /** The first item that matches, past or to come. */
  until(matches: (item: Item) => boolean): Promise<Item>;
  /** The first to come that matches. */
  next(matches?: (item: Item) => boolean): Promise<Item>;
}

/** Collects what happens, so that a test waits for an event and never for time. Rejects, telling what came, when nothing matched in time. */
export function createEventLog<Item>(timeoutMs = 60_000): EventLog<Item> {
  const items: Item[] = [];
  const waiting = new Set<(item: Item) => void>();

  function next(matches: (item: Item) => boolean = () => true): Promise<Item> {
    const { stack } = new Error("nothing matched in time");
    return new Promise((resolve, reject) => {
      const check = (item: Item) => {
        if (!matches(item)) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(item);
      };
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(new Error(`nothing matched in time, of ${JSON.stringify(items, undefined, 1).slice(-3_000)}\n${stack}`));
      }, timeoutMs);
      waiting.add(check);
    });
  }

  return {
    items,
    add(item) {
      items.push(item);
      for (const check of [...waiting]) check(item);
    },
    async until(matches) {
      return items.find(matches) ?? (await next(matches));
    },
    next,
  };
}
