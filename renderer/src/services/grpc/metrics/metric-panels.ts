import type { GrpcMetrics } from "../../../../../contract/services/grpc.ts";
import { formatByteRate, formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import type { Tokens } from "../../../ui/theme-tokens.ts";
import type { TimePanel } from "../../../ui/time-plot.tsx";

type Column = Exclude<keyof GrpcMetrics, "stepSeconds" | "at">;

export interface MetricSeries {
  readonly column: Column;
  readonly name: string;
  readonly color: keyof Tokens;
}

export interface MetricPanel extends TimePanel {
  readonly series: readonly MetricSeries[];
}

export const metricPanels: readonly MetricPanel[] = [
  {
    title: "Calls a second",
    series: [{ column: "calls", name: "begun", color: "--bl-s2" }],
    text: formatRate,
    leastTop: 2,
    leastStep: 0.1,
  },
  {
    title: "Errors a second",
    series: [{ column: "errors", name: "not OK", color: "--bl-s5" }],
    text: formatRate,
    leastTop: 2,
    leastStep: 0.1,
  },
  {
    title: "Unary latency",
    series: [
      { column: "p95", name: "p95", color: "--bl-s3" },
      { column: "p50", name: "p50", color: "--bl-s1" },
    ],
    text: formatTook,
    leastTop: 1,
    leastStep: 0.1,
    sparse: true,
  },
  { title: "Open calls", series: [{ column: "open", name: "open", color: "--bl-s6" }], text: formatCount, leastTop: 4, leastStep: 1 },
  {
    title: "Messages a second",
    series: [
      { column: "received", name: "received", color: "--bl-s1" },
      { column: "sent", name: "sent", color: "--bl-s4" },
    ],
    text: formatRate,
    leastTop: 2,
    leastStep: 0.1,
  },
  {
    title: "Bytes a second",
    series: [
      { column: "bytesIn", name: "in", color: "--bl-s1" },
      { column: "bytesOut", name: "out", color: "--bl-s4" },
    ],
    text: formatByteRate,
    leastTop: 1_000,
    leastStep: 1,
  },
];

/** Seconds, then the values of each series, for a plot. */
export const panelData = (metrics: GrpcMetrics, { series }: MetricPanel): readonly (readonly (number | null)[])[] => [
  metrics.at,
  ...series.map(({ column }) => metrics[column]),
];

/** The value at a point, or the newest one; "–" where there is none. */
export function shownValue(
  metrics: GrpcMetrics,
  { column }: MetricSeries,
  point: number | undefined,
  text: (value: number) => string,
): string {
  const value = metrics[column].at(point ?? -1);
  return value === undefined || value === null ? "–" : text(value);
}

/** Without the current step: it is incomplete, so its values would be too low. */
export function completeSteps(metrics: GrpcMetrics, now: number): GrpcMetrics {
  const last = metrics.at.at(-1);
  if (last === undefined || now / 1_000 >= last + metrics.stepSeconds) return metrics;
  const { stepSeconds, ...columns } = metrics;
  const cut = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.slice(0, -1)]));
  return { stepSeconds, ...(cut as unknown as Omit<GrpcMetrics, "stepSeconds">) };
}
