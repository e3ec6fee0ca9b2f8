import type { RateHistory } from "../../../../contract/control.ts";
import type { ServiceId } from "../../../../contract/service.ts";
import type { RateSample } from "../../../../contract/traffic/row.ts";

export interface TrafficLine {
  readonly service: ServiceId;
  /** Null before its first traffic, where a line would only cover others. */
  readonly bytesPerSecond: readonly (number | null)[];
}

/** One line for each service that is shown and had traffic, in the window's order. */
export const trafficLines = (history: RateHistory, hidden: readonly ServiceId[]): readonly TrafficLine[] =>
  history.series.flatMap(({ service, bytesPerSecond }) => {
    const first = bytesPerSecond.findIndex((value) => value > 0);
    if (first < 0 || hidden.includes(service)) return [];
    return [{ service, bytesPerSecond: bytesPerSecond.map((value, index) => (index < first - 1 ? null : value)) }];
  });

/**
 * Why there is no line: what services do without a connection, such as sample traffic of their own, has items but no bytes. `now` has the
 * rates of services that run: the first traffic is in them before it is in a complete step.
 */
export function whyNoLine(history: RateHistory, shown: readonly ServiceId[], now: readonly RateSample[]): string {
  if (shown.length === 0) return "All services are hidden.";
  const present = now.filter(({ service }) => shown.includes(service));
  if (present.some(({ bytesInPerSecond, bytesOutPerSecond }) => bytesInPerSecond + bytesOutPerSecond > 0))
    return `Traffic has begun. Its line begins when a step of ${history.stepSeconds} s is complete.`;
  const hasItems =
    present.some(({ itemsPerSecond }) => itemsPerSecond > 0) ||
    history.series.some(({ service, itemsPerSecond }) => shown.includes(service) && itemsPerSecond.some((value) => value > 0));
  return hasItems
    ? "No bytes were received or sent in this time: the traffic of the services was inside them, without a connection."
    : "No traffic in this time. The bytes that services receive and send appear here.";
}

/** Below it the logarithmic scale is about linear, so that it has a zero: a power of ten under the peaks of all lines. */
export function linearBelowBps(lines: readonly TrafficLine[]): number {
  const lowestPeak = Math.min(...lines.map(({ bytesPerSecond }) => Math.max(...bytesPerSecond.map((value) => value ?? 0))));
  return Math.max(100, 10 ** Math.floor(Math.log10(lowestPeak / 10)));
}

/** Values to label on the logarithmic scale from 0 to `topBps`: zero and powers of ten, as many as fit. */
export function decadeSplits(linearBps: number, topBps: number, heightPx: number, leastSpacePx: number): number[] {
  const placePx = (bps: number) => (heightPx * Math.asinh(bps / linearBps)) / Math.asinh(topBps / linearBps);
  const splits = [0];
  for (let bps = 10 * linearBps; bps <= topBps; bps *= 10) {
    if (placePx(bps) - placePx(splits.at(-1) ?? 0) >= leastSpacePx) splits.push(bps);
  }
  return splits;
}
