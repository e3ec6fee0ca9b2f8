import { SegmentedControl } from "@mantine/core";
import { useMemo } from "react";
import { z } from "zod";
import type { RateHistory } from "../../../../contract/control.ts";
import { type ServiceId, type ServiceView, serviceIds } from "../../../../contract/service.ts";
import { useRates } from "../../control/use-store.ts";
import { Caption, SectionTitle } from "../../ui/panel.tsx";
import { Card } from "../../ui/plot-card.tsx";
import { Answered } from "../../ui/status/answered.tsx";
import { formatByteRate } from "../../ui/texts/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { ServiceToggles } from "../service/service-toggles.tsx";
import styles from "./traffic-panel.module.css";
import { TrafficPlot } from "./traffic-plot.tsx";
import { trafficLines, whyNoLine } from "./traffic-series.ts";
import { type TrafficRange, trafficRanges, useTrafficHistory } from "./use-traffic-history.ts";

const noneHidden: readonly ServiceId[] = [];

/** Bytes in and out of each service. */
export function TrafficPanel({ services }: { services: readonly ServiceView[] }) {
  const [range, setRange] = useRemembered<TrafficRange>("traffic-range", "5 min", z.enum(trafficRanges));
  const [hidden, setHidden] = useRemembered<readonly ServiceId[]>("traffic-hidden", noneHidden, z.array(z.enum(serviceIds)));
  const answer = useTrafficHistory(range);
  const lines = useMemo(() => (answer.value ? trafficLines(answer.value, hidden) : []), [answer.value, hidden]);
  const titleOf = (id: ServiceId) => services.find((service) => service.id === id)?.title ?? id;
  const now = lines.map(({ service, bytesPerSecond }) => `${titleOf(service)} ${formatByteRate(bytesPerSecond.at(-1) ?? 0)}`);
  return (
    <Card className={styles.panel} aria-label="Traffic by service">
      <div className={styles.head}>
        <SectionTitle className={styles.title}>Traffic</SectionTitle>
        <div className={styles.toggles}>
          <ServiceToggles services={services} hidden={hidden} onHidden={setHidden} />
        </div>
        <div className={styles.scale}>
          {lines.length > 1 && (
            <Caption title="So that a busy service does not hide the others. The line of a single service is linear.">logarithmic</Caption>
          )}
          <SegmentedControl
            data={[...trafficRanges]}
            value={range}
            onChange={(value) => setRange(value as TrafficRange)}
            aria-label="Time shown"
          />
        </div>
      </div>
      <Answered answer={answer} what="the traffic" compact>
        {(history) =>
          lines.length === 0 ? (
            <NoLine history={history} services={services.filter(({ id }) => !hidden.includes(id))} />
          ) : (
            <TrafficPlot
              at={history.at}
              lines={lines}
              label={`Bytes a second by service, ${range}; now ${now.join(", ")}`}
              titleOf={titleOf}
            />
          )
        }
      </Answered>
    </Card>
  );
}

function NoLine({ history, services }: { readonly history: RateHistory; readonly services: readonly ServiceView[] }) {
  const rates = useRates();
  const ids = services.map(({ id }) => id);
  const now = services.flatMap(({ id, status }) => (status.state === "running" ? (rates.get(id) ?? []) : []));
  return <p className={styles.nothing}>{whyNoLine(history, ids, now)}</p>;
}
