import type { TurnAllocationView } from "../../../../../contract/services/webrtc.ts";

interface Sample {
  readonly atMs: number;
  readonly to: number;
  readonly from: number;
  toRate: number;
  fromRate: number;
}

const leastMs = 500;

/** Bytes per second of each allocation, from two views of it. */
export class RelayRates {
  readonly #samples = new Map<number, Sample>();
  #seen: readonly TurnAllocationView[] = [];

  of(
    allocations: readonly TurnAllocationView[],
    nowMs = performance.now(),
  ): readonly (TurnAllocationView & { toRate: number; fromRate: number })[] {
    if (allocations !== this.#seen) this.#sample(allocations, nowMs);
    return allocations.map((one) => {
      const { toRate = 0, fromRate = 0 } = this.#samples.get(one.id) ?? {};
      return { ...one, toRate, fromRate };
    });
  }

  #sample(allocations: readonly TurnAllocationView[], nowMs: number): void {
    this.#seen = allocations;
    const open = new Set(allocations.map(({ id }) => id));
    for (const id of this.#samples.keys()) if (!open.has(id)) this.#samples.delete(id);
    for (const { id, toPeers, fromPeers } of allocations) {
      const last = this.#samples.get(id);
      const now = { atMs: nowMs, to: toPeers.bytes, from: fromPeers.bytes };
      if (!last) this.#samples.set(id, { ...now, toRate: 0, fromRate: 0 });
      else if (nowMs - last.atMs >= leastMs) {
        const seconds = (nowMs - last.atMs) / 1_000;
        this.#samples.set(id, { ...now, toRate: (now.to - last.to) / seconds, fromRate: (now.from - last.from) / seconds });
      }
    }
  }
}
