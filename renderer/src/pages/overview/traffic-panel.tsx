import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { z } from "zod";
import type { ServiceView } from "../../../../contract/service.ts";
import { seriesToken } from "../../services/registry.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { formatByteRate } from "../../ui/texts/quantity.ts";
import { clockSeconds } from "../../ui/texts/time.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import styles from "./traffic-panel.module.css";
import { TrafficPlot } from "./traffic-plot.tsx";
import { groupSeries, stack } from "./traffic-series.ts";
import { type TrafficRange, trafficRanges, useTrafficHistory } from "./use-traffic-history.ts";

/** Bytes in and out of all services, stacked. */
export function TrafficPanel({ services }: { services: readonly ServiceView[] }) {
  const [range, setRange] = useRemembered<TrafficRange>("traffic-range", "5 min", z.enum(trafficRanges));
  const [point, setPoint] = useState<number>();
  const answer = useTrafficHistory(range);
  const { value: history } = answer;
  const series = useMemo(() => (history ? groupSeries(history) : []), [history]);
  const data = useMemo(() => stack(history?.at ?? [], series), [history, series]);
  const titleOf = (id: string) => services.find((service) => service.id === id)?.title ?? id;
  const at = point === undefined ? undefined : history?.at[point];
  const total = data.at(-1)?.at(-1) ?? 0;
  return (
    <section className={styles.panel} aria-label="Traffic of all services">
      <div className={styles.head}>
        <h2 className={styles.title}>Traffic, all services</h2>
        {series.map(({ services: ids, bytesPerSecond }) => (
          <span key={ids[0]} className={styles.key}>
            <span className={styles.swatch} style={{ background: `var(${seriesToken(ids[0])})` }} />
            {ids.map(titleOf).join(", ")}
            {at !== undefined && point !== undefined && <span className={styles.value}>{formatByteRate(bytesPerSecond[point] ?? 0)}</span>}
          </span>
        ))}
        {at !== undefined && <time className={styles.at}>{`at ${clockSeconds(at)}`}</time>}
        <SegmentedControl
          className={styles.ranges}
          data={[...trafficRanges]}
          value={range}
          onChange={(value) => setRange(value as TrafficRange)}
          aria-label="Time shown"
        />
      </div>
      <Answered answer={answer} what="the traffic" compact>
        {() =>
          series.length === 0 ? (
            <p className={styles.nothing}>No traffic in this time. The bytes that services receive and send appear here.</p>
          ) : (
            <TrafficPlot
              data={data}
              colors={series.map(({ services: ids }) => seriesToken(ids[0]))}
              label={`Bytes a second of all services, ${range}; now ${formatByteRate(total)}`}
              onPoint={setPoint}
            />
          )
        }
      </Answered>
    </section>
  );
}
