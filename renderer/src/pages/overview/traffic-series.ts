import type { RateHistory } from "../../../../contract/control.ts";
import type { ServiceId } from "../../../../contract/service.ts";

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

/** Below it the scale is about linear, so that it has a zero. */
export const linearBelowBps = 100;
const firstDecadeBps = 1_000;

/** Values to label on the logarithmic scale from 0 to `topBps`: zero and powers of ten, as many as fit. */
export function decadeSplits(topBps: number, heightPx: number, leastSpacePx: number): number[] {
  const placePx = (bps: number) => (heightPx * Math.asinh(bps / linearBelowBps)) / Math.asinh(topBps / linearBelowBps);
  const splits = [0];
  for (let bps = firstDecadeBps; bps <= topBps; bps *= 10) {
    if (placePx(bps) - placePx(splits.at(-1) ?? 0) >= leastSpacePx) splits.push(bps);
  }
  return splits;
}
