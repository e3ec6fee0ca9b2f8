import { useMemo, useState } from "react";
import styles from "./history-plots.module.css";
import { Note } from "./panel.tsx";
import { LegendKey } from "./plot-card.tsx";
import { clockSeconds } from "./texts/time.ts";
import { type TimePanel, TimePlot } from "./time-plot.tsx";

export interface HistoryPanel<Series extends string> extends Omit<TimePanel, "series"> {
  readonly series: Series;
  readonly color: TimePanel["series"][number]["color"];
}

interface HistoryPlotsProps<Series extends string> {
  readonly panels: readonly HistoryPanel<Series>[];
  readonly history: Readonly<Record<Series, readonly (number | null)[]>> & { readonly at: readonly number[] };
}

const shownSeconds = 120;

/** Small plots below each other, of the last two minutes. */
export function HistoryPlots<Series extends string>({ panels, history }: HistoryPlotsProps<Series>) {
  const [point, setPoint] = useState<number>();
  const last = history.at.at(-1);
  const range = useMemo<readonly [number, number]>(() => [(last ?? 0) - shownSeconds, last ?? 0], [last]);
  if (last === undefined) return <Note>There are no figures yet.</Note>;
  const pointed = point === undefined ? undefined : history.at[point];
  return (
    <div className={styles.plots}>
      {panels.map((panel) => (
        <HistoryPlot
          key={panel.series}
          panel={panel}
          at={history.at}
          values={history[panel.series]}
          range={range}
          point={point}
          pointed={pointed}
          onPoint={setPoint}
        />
      ))}
    </div>
  );
}

interface HistoryPlotProps {
  readonly panel: HistoryPanel<string>;
  readonly at: readonly number[];
  readonly values: readonly (number | null)[];
  readonly range: readonly [number, number];
  readonly point: number | undefined;
  readonly pointed: number | undefined;
  readonly onPoint: (index: number | undefined) => void;
}

function HistoryPlot({ panel, at, values, range, point, pointed, onPoint }: HistoryPlotProps) {
  const { title, text, color } = panel;
  const data = useMemo(() => [at, values], [at, values]);
  const value = values.at(point ?? -1) ?? undefined;
  const shown = value === undefined ? "–" : text(value);
  const plotted = useMemo(() => ({ ...panel, series: [{ name: title, color }] }), [panel, title, color]);
  return (
    <div className={styles.plot}>
      <div className={styles.plotHead}>
        <LegendKey color={`var(${color})`} value={shown}>
          {title}
        </LegendKey>
        {pointed !== undefined && <span>{`at ${clockSeconds(pointed * 1_000)}`}</span>}
      </div>
      <TimePlot
        panel={plotted}
        data={data}
        range={range}
        label={`${title} over the last two minutes; ${shown}`}
        syncKey="history"
        onPoint={onPoint}
      />
    </div>
  );
}
