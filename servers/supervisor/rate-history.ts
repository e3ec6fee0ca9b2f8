import type { RateHistory } from "../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../contract/service.ts";
import type { RateSample } from "../../contract/traffic/row.ts";

interface Tier {
  readonly stepSeconds: number;
  /** Values of each step, by step number (epoch seconds / stepSeconds). */
  readonly steps: Map<number, Map<ServiceId, { items: number; bytes: number }>>;
  /** Seconds of history that can be read. */
  readonly longestSeconds: number;
  /** Steps kept: half as many again, since a wide step starts before the requested range. */
  readonly keep: number;
}

export interface RateHistoryStore {
  add(sample: RateSample): void;
  read(seconds: number, points: number): RateHistory;
}

const mostSecondsLate = 5;

/** One hour in steps of a second and one day in steps of 30 s, for the Overview's plots. */
export function createRateHistory(now: () => number = Date.now): RateHistoryStore {
  const tiers: readonly Tier[] = [
    { stepSeconds: 1, longestSeconds: 3_600, keep: 5_400, steps: new Map() },
    { stepSeconds: 30, longestSeconds: 86_400, keep: 4_320, steps: new Map() },
  ];
  /** Second of each service's newest sample. */
  const newest = new Map<ServiceId, number>();
  let newestOfAll = 0;

  /** The clock was set back: what was counted after this second is not known any more to have been then. */
  function forgetAfter(second: number) {
    for (const { stepSeconds, steps } of tiers) {
      const from = Math.floor(second / stepSeconds);
      for (const step of steps.keys()) if (step >= from) steps.delete(step);
    }
    newest.clear();
  }

  function put(tier: Tier, second: number, sample: RateSample) {
    const { stepSeconds, steps, keep } = tier;
    const step = Math.floor(second / stepSeconds);
    let services = steps.get(step);
    if (!services) {
      services = new Map();
      steps.set(step, services);
      // Insertion order is time order: the first key is the oldest.
      for (const oldest of steps.keys()) {
        if (steps.size <= keep) break;
        steps.delete(oldest);
      }
    }
    const value = services.get(sample.service) ?? { items: 0, bytes: 0 };
    value.items += sample.itemsPerSecond / stepSeconds;
    value.bytes += (sample.bytesInPerSecond + sample.bytesOutPerSecond) / stepSeconds;
    services.set(sample.service, value);
  }

  return {
    add(sample) {
      const second = Math.floor(sample.at / 1_000);
      if (second < newestOfAll - mostSecondsLate) {
        forgetAfter(second);
        newestOfAll = second;
      }
      newestOfAll = Math.max(newestOfAll, second);
      const before = newest.get(sample.service);
      if (before === second) return;
      newest.set(sample.service, second);
      // A late timer skips seconds: the sample fills them too, otherwise the plot would drop.
      const isLate = before !== undefined && before < second && second - before <= mostSecondsLate;
      for (let at = isLate ? before + 1 : second; at <= second; at++) for (const tier of tiers) put(tier, at, sample);
    },
    read(seconds, points) {
      const fine = tiers[0] as Tier;
      const tier = seconds <= fine.longestSeconds ? fine : (tiers[1] as Tier);
      const stepSeconds = Math.max(1, Math.ceil(seconds / points / tier.stepSeconds)) * tier.stepSeconds;
      // The current step is incomplete and would look like a drop.
      const last = Math.floor(now() / 1_000 / stepSeconds) - 1;
      const count = Math.floor(seconds / stepSeconds);
      const first = last - count + 1;
      const sums = new Map(
        serviceIds.map((id) => [id, { items: new Array<number>(count).fill(0), bytes: new Array<number>(count).fill(0) }]),
      );
      const seen = new Set<ServiceId>();
      const merged = stepSeconds / tier.stepSeconds;
      for (const [step, services] of tier.steps) {
        const index = Math.floor((step * tier.stepSeconds) / stepSeconds) - first;
        if (index < 0 || index >= count) continue;
        for (const [id, value] of services) {
          const sum = sums.get(id);
          if (!sum) continue;
          seen.add(id);
          sum.items[index] = (sum.items[index] ?? 0) + value.items / merged;
          sum.bytes[index] = (sum.bytes[index] ?? 0) + value.bytes / merged;
        }
      }
      return {
        stepSeconds,
        at: Array.from({ length: count }, (_, index) => (first + index) * stepSeconds * 1_000),
        series: serviceIds
          .filter((id) => seen.has(id))
          .map((service) => ({ service, itemsPerSecond: sums.get(service)?.items ?? [], bytesPerSecond: sums.get(service)?.bytes ?? [] })),
      };
    },
  };
}
