import type { RowNumber } from "./list-source.ts";

export interface SeenNumbers<Row> {
  /** Whether the row is new in its lane; a row that has ended arrives a second time. */
  isFirst(row: Row): boolean;
  clear(): void;
}

/** The newest number of each lane. */
export function createSeenNumbers<Row>(numberOf: (row: Row) => RowNumber): SeenNumbers<Row> {
  const newest = new Map<string, number>();
  return {
    isFirst(row) {
      const { lane, number } = numberOf(row);
      if (number <= (newest.get(lane) ?? 0)) return false;
      newest.set(lane, number);
      return true;
    },
    clear: () => newest.clear(),
  };
}
