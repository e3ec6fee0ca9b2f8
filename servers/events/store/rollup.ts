import type { EventRow } from "../../../contract/services/events.ts";

/** Ids of one block are counted together; a deep page skips whole blocks by their counts. */
const blockBits = 12;
export const blockOf = (id: number): number => Math.floor(id / 2 ** blockBits);
export const firstIdOf = (block: number): number => block * 2 ** blockBits;
export const lastIdOf = (block: number): number => (block + 1) * 2 ** blockBits - 1;

export type RollupSource = Pick<EventRow, "created_at" | "device_id" | "outcome">;

/** Counts of a group of events, one entry for each row of a rollup table that they change. */
export interface RollupCounts {
  readonly days: readonly (readonly [day: string, outcome: string, events: number])[];
  readonly devices: readonly (readonly [device: string, outcome: string, events: number])[];
  /** With the oldest and the newest time of the events: a search by time skips whole blocks. */
  readonly blocks: readonly (readonly [block: number, outcome: string, events: number, firstAt: string, lastAt: string])[];
}

export function rollUp(events: readonly RollupSource[], idOf: (index: number) => number): RollupCounts {
  const days = new Map<string, [string, string, number]>();
  const devices = new Map<string, [string, string, number]>();
  const blocks = new Map<string, [number, string, number, string, string]>();
  for (let index = 0; index < events.length; index++) {
    const { created_at, device_id, outcome } = events[index] as RollupSource;
    addTo(days, created_at.slice(0, 10), outcome);
    addTo(devices, device_id, outcome);
    addToBlock(blocks, blockOf(idOf(index)), outcome, created_at);
  }
  return { days: [...days.values()], devices: [...devices.values()], blocks: [...blocks.values()] };
}

function addTo<Key extends string | number>(counts: Map<string, [Key, string, number]>, key: Key, outcome: string): void {
  const name = `${key}\0${outcome}`;
  const known = counts.get(name);
  if (known) known[2] += 1;
  else counts.set(name, [key, outcome, 1]);
}

function addToBlock(counts: Map<string, [number, string, number, string, string]>, block: number, outcome: string, at: string): void {
  const name = `${block}\0${outcome}`;
  const known = counts.get(name);
  if (!known) {
    counts.set(name, [block, outcome, 1, at, at]);
    return;
  }
  known[2] += 1;
  if (at < known[3]) known[3] = at;
  if (at > known[4]) known[4] = at;
}
