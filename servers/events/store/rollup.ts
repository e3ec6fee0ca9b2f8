import type { EventRow } from "../../../contract/events.ts";

/** Ids of one block are counted together; a deep page skips whole blocks by their counts. */
export const blockBits = 12;
export const blockOf = (id: number): number => Math.floor(id / 2 ** blockBits);
export const lastIdOf = (block: number): number => (block + 1) * 2 ** blockBits - 1;

export type RollupSource = Pick<EventRow, "created_at" | "device_id" | "outcome">;

/** Counts of a group of events, one entry for each row of a rollup table that they change. */
export interface RollupCounts {
  readonly days: readonly (readonly [day: string, outcome: string, events: number])[];
  readonly devices: readonly (readonly [device: string, outcome: string, events: number])[];
  readonly blocks: readonly (readonly [block: number, outcome: string, events: number])[];
}

export function rollUp(events: readonly RollupSource[], idOf: (index: number) => number): RollupCounts {
  const days = new Map<string, [string, string, number]>();
  const devices = new Map<string, [string, string, number]>();
  const blocks = new Map<string, [number, string, number]>();
  for (let index = 0; index < events.length; index++) {
    const { created_at, device_id, outcome } = events[index] as RollupSource;
    const block = blockOf(idOf(index));
    addTo(days, created_at.slice(0, 10), outcome);
    addTo(devices, device_id, outcome);
    addTo(blocks, block, outcome);
  }
  return { days: [...days.values()], devices: [...devices.values()], blocks: [...blocks.values()] };
}

function addTo<Key extends string | number>(counts: Map<string, [Key, string, number]>, key: Key, outcome: string): void {
  const name = `${key}\0${outcome}`;
  const known = counts.get(name);
  if (known) known[2] += 1;
  else counts.set(name, [key, outcome, 1]);
}

/** How long counts by the minute and by the hour are kept for the plots; those by the day stay. */
export const minutePlotMs = 48 * 3_600_000;
export const hourPlotMs = 62 * 86_400_000;
