import type { RateHistory } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../control/use-answer.ts";

export const trafficRanges = ["5 min", "1 h", "Since start"] as const;
export type TrafficRange = (typeof trafficRanges)[number];

const points = 300;
const dayS = 86_400;
/** Set if the last read failed. */
const againMs = 5_000;

/** The history of a range, read again when a step is complete, and after a failure. */
export function useTrafficHistory(range: TrafficRange): Answer<RateHistory> {
  const client = useControl();
  const secondsOf = async () => {
    if (range !== "Since start") return range === "5 min" ? 300 : 3_600;
    const { startedAt } = await client.call("app.info");
    return Math.min(dayS, Math.max(60, Math.ceil((Date.now() - startedAt) / 1_000)));
  };
  return useAnswer<RateHistory>({
    key: ["rate.history", range],
    ask: async () => withoutPresentStep(await client.call("rate.history", { seconds: await secondsOf(), points })),
    everyMs: (history) => (history ? history.stepSeconds * 1_000 : againMs),
  });
}

/** Leaves out the current step, which is incomplete and would drop at the right edge of the plot. */
const withoutPresentStep = (history: RateHistory): RateHistory => ({
  ...history,
  at: history.at.slice(0, -1),
  series: history.series.map((one) => ({
    ...one,
    itemsPerSecond: one.itemsPerSecond.slice(0, -1),
    bytesPerSecond: one.bytesPerSecond.slice(0, -1),
  })),
});
