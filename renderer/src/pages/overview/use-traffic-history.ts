import { useEffect, useState } from "react";
import type { RateHistory } from "../../../../contract/control.ts";
import { useControl } from "../../control/client-context.tsx";
import { useConnection } from "../../control/use-store.ts";

export const trafficRanges = ["5 min", "1 h", "Since start"] as const;
export type TrafficRange = (typeof trafficRanges)[number];

const points = 300;
const dayS = 86_400;

/** The history of a range, asked for again as each new step is full. */
export function useTrafficHistory(range: TrafficRange): RateHistory | undefined {
  const client = useControl();
  const open = useConnection().state === "open";
  const [history, setHistory] = useState<RateHistory>();
  useEffect(() => {
    if (!open) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const secondsOf = async () => {
      if (range !== "Since start") return range === "5 min" ? 300 : 3_600;
      const { startedAt } = await client.call("app.info");
      return Math.min(dayS, Math.max(60, Math.ceil((Date.now() - startedAt) / 1_000)));
    };
    const read = async () => {
      const next = await client.call("rate.history", { seconds: await secondsOf(), points });
      if (ended) return;
      setHistory(withoutPresentStep(next));
      timer = setTimeout(() => void read().catch(ignore), next.stepSeconds * 1_000);
    };
    // A lost connection is told by its banner, and reading begins anew when it is open again.
    const ignore = () => {};
    void read().catch(ignore);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [client, open, range]);
  return history;
}

/** The step that is under way would fall to nothing at the plot's right edge. */
const withoutPresentStep = (history: RateHistory): RateHistory => ({
  ...history,
  at: history.at.slice(0, -1),
  series: history.series.map((one) => ({
    ...one,
    itemsPerSecond: one.itemsPerSecond.slice(0, -1),
    bytesPerSecond: one.bytesPerSecond.slice(0, -1),
  })),
});
