import type { TrafficRow } from "../../../contract/traffic/row.ts";

export interface Merged {
  readonly rows: readonly TrafficRow[];
  /** Rows that were not there before. */
  readonly added: number;
  readonly changed: boolean;
}

/**
 * Takes rows into a list that is ordered by id, oldest first. A row that is there is updated in its place, or taken out
 * where it no longer matches; a late "pending" never undoes an end.
 */
export function mergeRows(rows: readonly TrafficRow[], items: readonly TrafficRow[], matches: (row: TrafficRow) => boolean): Merged {
  const next = rows.slice();
  let added = 0;
  let changed = false;
  for (const item of items) {
    const index = next.length === 0 || item.id > next[next.length - 1]!.id ? next.length : lowerBound(next, item.id);
    const known = next[index]?.id === item.id ? next[index] : undefined;
    if (known && item.tone === "pending" && known.tone !== "pending") continue;
    if (!matches(item)) {
      if (known) next.splice(index, 1);
      changed ||= known !== undefined;
      continue;
    }
    if (known) next[index] = item;
    else {
      next.splice(index, 0, item);
      added++;
    }
    changed = true;
  }
  return changed ? { rows: next, added, changed } : { rows, added, changed };
}

/** Updates and takes out like `mergeRows`, adds nothing. */
export function updateRows(rows: readonly TrafficRow[], items: readonly TrafficRow[], matches: (row: TrafficRow) => boolean): Merged {
  return mergeRows(
    rows,
    items.filter((item) => hasRow(rows, item.id)),
    matches,
  );
}

export const hasRow = (rows: readonly TrafficRow[], id: number): boolean => rows[lowerBound(rows, id)]?.id === id;

/** Index of the first row whose id is not below `id`. */
export function lowerBound(rows: readonly TrafficRow[], id: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
