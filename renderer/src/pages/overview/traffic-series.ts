import type { RateHistory } from "../../../../contract/control.ts";
import type { ServiceId } from "../../../../contract/service.ts";

/** Most separate series; further services are combined into one. */
const mostSeparate = 3;

export interface TrafficSeries {
  /** One service, or the combined ones; largest first. */
  readonly services: readonly ServiceId[];
  readonly bytesPerSecond: readonly number[];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The largest services separately, sorted by size; the small ones combined on top. */
export function groupSeries(history: RateHistory): TrafficSeries[] {
  const largest = history.series.map((one) => ({ ...one, total: sum(one.bytesPerSecond) })).sort((a, b) => b.total - a.total);
  const apart = largest.length > mostSeparate + 1 ? largest.slice(0, mostSeparate - 1) : largest;
  const together = largest.slice(apart.length);
  const series: TrafficSeries[] = apart.map(({ service, bytesPerSecond }) => ({ services: [service], bytesPerSecond }));
  if (together.length === 0) return series;
  const bytesPerSecond = history.at.map((_, index) => together.reduce((total, one) => total + (one.bytesPerSecond[index] ?? 0), 0));
  return [...series, { services: together.map((one) => one.service), bytesPerSecond }];
}

/** uPlot draws lines, so each series holds itself and all below it: [seconds, first, first + second, …]. */
export function stack(at: readonly number[], series: readonly TrafficSeries[]): number[][] {
  const sums = at.map(() => 0);
  const stacked = series.map(({ bytesPerSecond }) =>
    sums.map((below, index) => {
      const value = below + (bytesPerSecond[index] ?? 0);
      sums[index] = value;
      return value;
    }),
  );
  return [at.map((ms) => ms / 1_000), ...stacked];
}
