import type { GrpcMetrics } from "../../../contract/services/grpc.ts";

/** What has been counted so far. */
export interface MetricCounts {
  readonly calls: number;
  readonly errors: number;
  readonly open: number;
  readonly received: number;
  readonly sent: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** The figures of the last hour, one set a second, for plots. */
export interface MetricsHistory {
  /** Of a call that has ended. */
  addLatency(milliseconds: number): void;
  /** To be called once a second. */
  sample(counts: MetricCounts, at: number): void;
  read(range: { readonly seconds: number; readonly points: number }): GrpcMetrics;
}

const keptSeconds = 3_600;
/** If a second has more calls, its percentiles are of the newest of them. */
const keptLatencies = 1_024;

const rates = ["calls", "errors", "received", "sent", "bytesIn", "bytesOut"] as const;

const nothing: MetricCounts = { calls: 0, errors: 0, open: 0, received: 0, sent: 0, bytesIn: 0, bytesOut: 0 };

interface Second extends Record<(typeof rates)[number], number> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly open: number;
  readonly p50: number | null;
  readonly p95: number | null;
}

export function createMetricsHistory(): MetricsHistory {
  const latencies = new Float64Array(keptLatencies);
  let latencyCount = 0;
  let before: { readonly counts: MetricCounts; readonly at: number } = { counts: nothing, at: Date.now() };
  let seconds: Second[] = [];

  function percentiles(): Pick<Second, "p50" | "p95"> {
    const count = Math.min(latencyCount, keptLatencies);
    latencyCount = 0;
    if (count === 0) return { p50: null, p95: null };
    const sorted = latencies.slice(0, count).sort();
    const percentile = (part: number) => sorted[Math.min(count - 1, Math.floor(count * part))] ?? null;
    return { p50: percentile(0.5), p95: percentile(0.95) };
  }

  return {
    addLatency(milliseconds) {
      latencies[latencyCount++ % keptLatencies] = milliseconds;
    },
    sample(counts, at) {
      const from = before;
      before = { counts, at };
      const elapsed = (at - from.at) / 1_000;
      const tail = percentiles();
      if (elapsed <= 0) {
        // The clock was set back.
        seconds = seconds.filter((second) => second.at < at);
        return;
      }
      const perSecond = Object.fromEntries(rates.map((name) => [name, Math.max(0, counts[name] - from.counts[name]) / elapsed]));
      seconds.push({ ...(perSecond as Record<(typeof rates)[number], number>), at, open: counts.open, ...tail });
      if (seconds.length >= 2 * keptSeconds) seconds = seconds.slice(-keptSeconds);
    },
    read({ seconds: wanted, points }) {
      const range = Math.min(wanted, keptSeconds);
      const step = Math.max(1, Math.ceil(range / points));
      const since = Date.now() - range * 1_000;
      // Steps begin at fixed times, so that a step is the same in the next answer.
      const steps = Map.groupBy(
        seconds.slice(-range).filter(({ at }) => at >= since),
        ({ at }) => Math.floor(at / 1_000 / step) * step,
      );
      const joined = [...steps].map(([at, parts]) => ({ at, ...joinSeconds(parts) }));
      const column = <Name extends keyof (typeof joined)[number]>(name: Name) => joined.map((one) => one[name]);
      return {
        stepSeconds: step,
        at: column("at"),
        calls: column("calls"),
        errors: column("errors"),
        open: column("open"),
        received: column("received"),
        sent: column("sent"),
        bytesIn: column("bytesIn"),
        bytesOut: column("bytesOut"),
        p50: column("p50"),
        p95: column("p95"),
      };
    },
  };
}

/** Means; of open calls and latencies the highest, so that peaks are shown. */
function joinSeconds(parts: readonly Second[]): Omit<Second, "at"> {
  const mean = (name: (typeof rates)[number]) => parts.reduce((sum, part) => sum + part[name], 0) / parts.length;
  const highest = (values: readonly (number | null)[]) =>
    values.reduce<number | null>((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null);
  return {
    ...(Object.fromEntries(rates.map((name) => [name, mean(name)])) as Record<(typeof rates)[number], number>),
    open: highest(parts.map(({ open }) => open)) ?? 0,
    p50: highest(parts.map(({ p50 }) => p50)),
    p95: highest(parts.map(({ p95 }) => p95)),
  };
}
