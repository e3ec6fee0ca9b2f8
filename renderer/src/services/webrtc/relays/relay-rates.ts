import type { TurnAllocationView } from "../../../../../contract/services/webrtc.ts";

interface RelayRate {
  /** When its bytes were counted. */
  readonly atMs: number;
  readonly to: number;
  readonly from: number;
  readonly toRate: number;
  readonly fromRate: number;
}
/** By id of the allocation. */
export type RelayRates = ReadonlyMap<number, RelayRate>;

const leastMs = 500;

/** Bytes per second of each allocation, from two views of it; without an earlier one they are 0. */
export function relayRates(known: RelayRates | undefined, allocations: readonly TurnAllocationView[], nowMs: number): RelayRates {
  return new Map(
    allocations.map(({ id, toPeers, fromPeers }) => {
      const last = known?.get(id);
      const now = { atMs: nowMs, to: toPeers.bytes, from: fromPeers.bytes };
      if (!last) return [id, { ...now, toRate: 0, fromRate: 0 }];
      if (nowMs - last.atMs < leastMs) return [id, last];
      const seconds = (nowMs - last.atMs) / 1_000;
      return [id, { ...now, toRate: (now.to - last.to) / seconds, fromRate: (now.from - last.from) / seconds }];
    }),
  );
}
