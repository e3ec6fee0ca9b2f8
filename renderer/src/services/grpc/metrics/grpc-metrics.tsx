import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { z } from "zod";
import { grpcActions, type GrpcMetrics as Metrics } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useService } from "../../../control/use-store.ts";
import { CommandLine } from "../../../ui/copy/command-line.tsx";
import { Caption } from "../../../ui/panel.tsx";
import { Card, LegendKey } from "../../../ui/plot-card.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { endpointsOf } from "../../../ui/texts/address.ts";
import { clockSeconds } from "../../../ui/texts/time.ts";
import { TimePlot } from "../../../ui/time-plot.tsx";
import { Toolbar } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { completeSteps, type MetricPanel, metricPanels, panelData, shownValue } from "./metric-panels.ts";
import styles from "./metrics.module.css";

const ranges = { "5 min": 300, "1 h": 3_600 } as const;
type Range = keyof typeof ranges;
const rangeNames = Object.keys(ranges) as Range[];
const points = 300;
/** After a failure. */
const againMs = 5_000;

/** The metrics of the service as lines over time. */
export function GrpcMetrics() {
  const client = useControl();
  const service = useService("grpc");
  const [range, setRange] = useRemembered<Range>("grpc.metrics-range", "5 min", z.enum(rangeNames));
  const [point, setPoint] = useState<number>();
  const isRunning = service?.status.state === "running";
  const since = service?.status.state === "running" ? service.status.since : 0;
  const answer = useAnswer<Metrics>({
    key: ["grpc", "metrics", range, since],
    ask: async () => completeSteps(await client.action(grpcActions, "grpc", "metrics", { seconds: ranges[range], points }), Date.now()),
    enabled: isRunning,
    everyMs: (metrics) => (metrics ? metrics.stepSeconds * 1_000 : againMs),
  });
  const metrics = answer.value;
  const last = metrics?.at.at(-1);
  const shownRange = useMemo<readonly [number, number]>(() => {
    const to = last ?? Math.floor(Date.now() / 1_000);
    return [to - ranges[range], to];
  }, [last, range]);
  if (!isRunning) return <ServiceStopped id="grpc" text="Start the service to see its calls, errors, latencies and messages over time." />;
  const pointed = point === undefined ? undefined : metrics?.at[point];
  const scraped = endpointsOf(service).find(({ label }) => label === "Metrics")?.url;
  return (
    <section className={styles.page} aria-label="Metrics">
      <Toolbar label="Metrics">
        <SegmentedControl aria-label="Time shown" data={rangeNames} value={range} onChange={(value) => setRange(value as Range)} />
        <Caption grow>{pointed === undefined ? "newest values" : `at ${clockSeconds(pointed * 1_000)}`}</Caption>
        {scraped && <CommandLine command={`curl ${scraped}`} />}
      </Toolbar>
      <Answered answer={answer} what="the metrics" compact>
        {(value) => (
          <div className={styles.panels}>
            {metricPanels.map((panel) => (
              <Panel key={panel.title} panel={panel} metrics={value} range={shownRange} point={point} onPoint={setPoint} />
            ))}
          </div>
        )}
      </Answered>
    </section>
  );
}

interface PanelProps {
  readonly panel: MetricPanel;
  readonly metrics: Metrics;
  readonly range: readonly [number, number];
  readonly point: number | undefined;
  readonly onPoint: (index: number | undefined) => void;
}

function Panel({ panel, metrics, range, point, onPoint }: PanelProps) {
  const { title, series, text } = panel;
  const data = useMemo(() => panelData(metrics, panel), [metrics, panel]);
  const newest = series.map((one) => `${one.name} ${shownValue(metrics, one, undefined, text)}`).join(", ");
  return (
    <Card className={styles.panel} aria-label={title}>
      <div className={styles.head}>
        <h2>{title}</h2>
        {series.map((one) => (
          <LegendKey key={one.column} color={`var(${one.color})`} value={shownValue(metrics, one, point, text)}>
            {one.name}
          </LegendKey>
        ))}
      </div>
      <TimePlot
        panel={panel}
        data={data}
        range={range}
        label={`${title} over time; newest: ${newest}`}
        syncKey="grpc-metrics"
        onPoint={onPoint}
      />
    </Card>
  );
}
