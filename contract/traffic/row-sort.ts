/** The orders in which rows can be read: the supervisor sorts, the dashboard joins the rows of several services and reads on. */
import { z } from "zod";
import { shownReason } from "./refusal-words.ts";
import type { TrafficRow } from "./row.ts";
import { statusWord, tookSoFar } from "./row-filter.ts";

type SortedRow = Omit<TrafficRow, "service"> & { readonly service?: TrafficRow["service"] };
type SortValue = string | number | undefined;

/** `bytes` is in both directions together; `status` is the word that lists of HTTP show. */
const values = {
  at: ({ at }) => at,
  service: ({ service }) => service,
  kind: ({ kind }) => kind,
  verb: ({ verb }) => verb,
  target: ({ target }) => target,
  outcome: ({ outcome }) => outcome,
  status: statusWord,
  tookMs: tookSoFar,
  bytesIn: ({ bytesIn }) => bytesIn,
  bytesOut: ({ bytesOut }) => bytesOut,
  bytes: ({ bytesIn, bytesOut }) => bytesIn + bytesOut,
  parts: ({ parts }) => parts,
  client: ({ client }) => client,
  user: ({ user }) => user,
  reason: ({ service, reason }) => reason && shownReason({ service, reason }),
} satisfies Readonly<Record<string, (row: SortedRow, asOf: number) => SortValue>>;

export type RowSortField = keyof typeof values;

export interface RowSort {
  readonly by: RowSortField;
  readonly direction: "ascending" | "descending";
}

export interface TimedRowSort extends RowSort {
  /** When it was sorted, by the clock of the page, in ms since the epoch: the same for all parts of a list. */
  readonly asOf: number;
}

export const rowSortSchema = z.strictObject({
  asOf: z.number(),
  by: z.enum(Object.keys(values) as [RowSortField, ...RowSortField[]]),
  direction: z.enum(["ascending", "descending"]),
});

/** The place of a row in a sorted list: by its value and, among equal ones, by its id. */
export interface SortPlace {
  readonly value?: SortValue;
  readonly id: number;
}

export const sortPlaceSchema = z.strictObject({ value: z.union([z.string(), z.number()]).optional(), id: z.int() });

export const sortPlaceOf = (row: SortedRow, { by, asOf }: TimedRowSort): SortPlace => ({ value: values[by](row, asOf), id: row.id });

/** Negative if `one` comes first. Places without a value come last, whatever the direction; of equal ones the newest comes first. */
export function comparePlaces(one: SortPlace, other: SortPlace, { direction }: RowSort): number {
  return compareValues(one.value, other.value, direction) || other.id - one.id;
}

/** As `comparePlaces`, without the ids: 0 for equal values. */
export function compareValues(one: SortValue, other: SortValue, direction: RowSort["direction"]): number {
  if (one === other) return 0;
  if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
  return one < other === (direction === "ascending") ? -1 : 1;
}
