import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { z } from "zod";
import type { EventsViews, OutcomePlot } from "../../../../../contract/services/events.ts";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { ShownFilter } from "../event-filter.ts";
import { AcceptancePanel } from "./acceptance-panel.tsx";
import { LimitsPanel } from "./limits-panel.tsx";
import { barLabel, outcomeBars, outcomeToken, stepWords } from "./outcome-bars.ts";
import { OutcomePlotView } from "./outcome-plot.tsx";
import styles from "./plots-band.module.css";

const panels = ["Outcomes", "Acceptance", "Limits"] as const;
type Panel = (typeof panels)[number];

interface PlotsBandProps {
  readonly plot: OutcomePlot | undefined;
  /** Without the filter's language and provider, so that the chosen one is among the others. */
  readonly acceptance: OutcomePlot | undefined;
  readonly filter: ShownFilter;
  readonly onFilter: (filter: ShownFilter) => void;
  readonly limits: EventsViews["limits"] | undefined;
  readonly running: boolean;
}

/** What the events come to: outcomes over time, how often they were accepted, and how near the clients are to their limits. */
export function PlotsBand({ plot, acceptance, filter, onFilter, limits, running }: PlotsBandProps) {
  const [panel, setPanel] = useRemembered<Panel>("events.panel", "Outcomes", z.enum(panels));
  return (
    <section className={styles.band} aria-label="Figures">
      <SegmentedControl
        className={styles.chooser}
        aria-label="Figures shown"
        data={panels.map((value) => ({ value, label: value }))}
        value={panel}
        onChange={(value) => setPanel(value as Panel)}
      />
      <OutcomesPanel plot={plot} filter={filter} chosen={panel === "Outcomes"} />
      <AcceptancePanel plot={acceptance} filter={filter} onFilter={onFilter} chosen={panel === "Acceptance"} />
      <LimitsPanel limits={limits} running={running} chosen={panel === "Limits"} />
    </section>
  );
}

function OutcomesPanel({ plot, filter, chosen }: Pick<PlotsBandProps, "plot" | "filter"> & { readonly chosen: boolean }) {
  const [bar, setBar] = useState<number>();
  const bars = useMemo(
    () => outcomeBars(plot ?? { step: "minute", at: [], series: [] }, { outcome: filter.outcome, trim: filter.range === "all" }),
    [plot, filter.outcome, filter.range],
  );
  const at = bar === undefined ? undefined : bars.at[bar];
  const notes = [
    plot?.sampled !== undefined && (plot.sampled === 0 ? "none among the newest" : `newest ${formatCount(plot.sampled)} only`),
    bars.leftOut > 0 && `${formatCount(bars.leftOut)} older not drawn`,
    plot !== undefined && plot.behind > 0 && `${formatCount(plot.behind)} still to count`,
  ].filter(Boolean);
  return (
    <section className={styles.outcomes} aria-label="Outcomes over time" data-chosen={chosen}>
      <div className={styles.head}>
        <h2 className={styles.title}>Outcomes over time</h2>
        <span className={styles.caption}>
          {at === undefined ? (
            <span className={notes.length > 0 ? styles.note : undefined} title={[stepWords(bars), ...notes].join(" · ")}>
              {notes.length > 0 ? notes.join(" · ") : stepWords(bars)}
            </span>
          ) : (
            <time>{barLabel(at, bars.step)}</time>
          )}
        </span>
        {bars.series.map(({ outcome, counts }) => (
          <span key={outcome} className={styles.key}>
            <span className={styles.swatch} style={{ background: `var(${outcomeToken(outcome)})` }} />
            {outcome}
            {bar !== undefined && at !== undefined && <b>{formatCount(counts[bar] ?? 0)}</b>}
          </span>
        ))}
      </div>
      <OutcomePlotView
        bars={bars}
        onBar={setBar}
        label={`Outcomes over time, ${stepWords(bars)}: ${bars.series
          .map(({ outcome, counts }) => `${formatCount(counts.reduce((sum, count) => sum + count, 0))} ${outcome}`)
          .join(", ")}`}
      />
    </section>
  );
}
