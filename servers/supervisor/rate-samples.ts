import type { ServiceId } from "../../contract/service.ts";
import type { RateSample } from "../../contract/traffic/row.ts";
import type { Counters } from "../core/service/service.ts";

const shortestRateSeconds = 0.5;

/** The rates of a service, from the counters that its process sends every second. */
export interface RateSamples {
  add(counters: Counters, at: number, clockMs: number): void;
  /** Its process has ended. */
  idle(): void;
}

export function createRateSamples(parts: {
  readonly service: ServiceId;
  /** Rows that the service had to drop. */
  readonly dropped: () => number;
  readonly publish: (sample: RateSample) => void;
}): RateSamples {
  const { service, publish } = parts;
  let last: { clockMs: number; counters: Counters } | undefined;

  return {
    add(counters, at, clockMs) {
      const seconds = last ? (clockMs - last.clockMs) / 1_000 : 1;
      // A service that was blocked may send two samples in a row: a rate over such a short time is meaningless.
      if (seconds < shortestRateSeconds) return;
      const before: Pick<Counters, "items" | "bytesIn" | "bytesOut" | "figures"> = last?.counters ?? { items: 0, bytesIn: 0, bytesOut: 0 };
      const perSecond = (now: number, then: number) => Math.max(0, (now - then) / seconds);
      last = { clockMs, counters };
      publish({
        service,
        at,
        itemsPerSecond: perSecond(counters.items, before.items),
        bytesInPerSecond: perSecond(counters.bytesIn, before.bytesIn),
        bytesOutPerSecond: perSecond(counters.bytesOut, before.bytesOut),
        ...(counters.clients !== undefined && { clients: counters.clients }),
        total: counters.items,
        dropped: parts.dropped(),
        figures: (counters.figures ?? []).map(({ label, value, unit, perSecond: isRate }) => {
          const earlier = before.figures?.find((figure) => figure.label === label)?.value ?? 0;
          return { label, unit, value: isRate ? perSecond(value, earlier) : value };
        }),
        note: counters.note,
      });
    },
    idle() {
      last = undefined;
      publish({
        service,
        at: Date.now(),
        itemsPerSecond: 0,
        bytesInPerSecond: 0,
        bytesOutPerSecond: 0,
        clients: 0,
        total: 0,
        dropped: 0,
        figures: [],
        note: "",
      });
    },
  };
}
