/** Rows in order, oldest first; appending and dropping the oldest take constant time. */
export interface SortedRows<Row> {
  readonly count: number;
  /** 0 is the newest. */
  fromNewest(index: number): Row | undefined;
  /** The row that is in the same place by `order`. */
  find(row: Row): Row | undefined;
  /** Adds the row, or replaces the one in its place. */
  put(row: Row): void;
  remove(row: Row): void;
  /** Drops the oldest rows until at most this many are left; returns how many it dropped. */
  keepNewest(most: number): number;
  clear(): void;
  /** A copy, oldest first. */
  toArray(): Row[];
}

/** Memory of dropped rows is freed from this number on, if they are at least half of all. */
const compactFrom = 1_024;

export function createSortedRows<Row>(order: (one: Row, other: Row) => number, initial: readonly Row[] = []): SortedRows<Row> {
  let rows = initial.toSorted(order);
  /** Rows before this index are dropped. */
  let start = 0;

  /** Index of the first row that is not before `row`. */
  function lowerBound(row: Row): number {
    const last = rows.length - 1;
    if (last < start || order(rows[last]!, row) < 0) return rows.length;
    let low = start;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order(rows[middle]!, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  const isAt = (index: number, row: Row) => index < rows.length && order(rows[index]!, row) === 0;

  return {
    get count() {
      return rows.length - start;
    },
    fromNewest: (index) => (index >= 0 && index < rows.length - start ? rows[rows.length - 1 - index] : undefined),
    find(row) {
      const index = lowerBound(row);
      return isAt(index, row) ? rows[index] : undefined;
    },
    put(row) {
      const index = lowerBound(row);
      if (index === rows.length) rows.push(row);
      else rows.splice(index, isAt(index, row) ? 1 : 0, row);
    },
    remove(row) {
      const index = lowerBound(row);
      if (isAt(index, row)) rows.splice(index, 1);
    },
    keepNewest(most) {
      const dropped = Math.max(0, rows.length - start - most);
      start += dropped;
      if (start >= compactFrom && start * 2 >= rows.length) {
        rows = rows.slice(start);
        start = 0;
      }
      return dropped;
    },
    clear() {
      rows = [];
      start = 0;
    },
    toArray: () => rows.slice(start),
  };
}
