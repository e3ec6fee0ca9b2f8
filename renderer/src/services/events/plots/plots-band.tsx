import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { z } from "zod";
import type { EventsViews, OutcomePlot } from "../../../../../contract/services/events.ts";
import type { Answer } from "../../../control/use-answer.ts";
import { SectionTitle } from "../../../ui/panel.tsx";
import { LegendKey } from "../../../ui/plot-card.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { Boundary } from "../../../ui/status/boundary.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import type { ShownFilter } from "../event-filter.ts";
import { AcceptancePanel } from "./acceptance-panel.tsx";
import { LimitsPanel } from "./limits-panel.tsx";
import { isDrawnEmpty, nothingCounted } from "./nothing-counted.ts";
import { barLabel, outcomeBars, outcomeToken, stepWords } from "./outcome-bars.ts";
import { OutcomePlotView } from "./outcome-plot.tsx";
import styles from "./plots-band.module.css";
import type { OutcomePlots } from "./use-outcome-plot.ts";

const panels = ["Outcomes", "Acceptance", "Limits"] as const;
type Panel = (typeof panels)[number];
const chosenBy = ["text", "device", "outcome", "language", "provider"] as const;

interface PlotsBandProps {
  readonly plots: Answer<OutcomePlots>;
  readonly filter: ShownFilter;
  readonly onFilter: (filter: ShownFilter) => void;
  readonly limits: EventsViews["limits"] | undefined;
  readonly running: boolean;
}

/** Plots of the events: outcomes over time, acceptance, and how near the clients are to their limits. */
export function PlotsBand({ plots, filter, onFilter, limits, running }: PlotsBandProps) {
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
      <div className={styles.counted} data-chosen={panel !== "Limits"}>
        <Answered answer={plots} what="the figures" compact>
          {({ plot, acceptance }) => (
            <>
              <Boundary region="events outcomes">
                <OutcomesPanel plot={plot} filter={filter} chosen={panel === "Outcomes"} />
              </Boundary>
              <Boundary region="events acceptance">
                <AcceptancePanel plot={acceptance} filter={filter} onFilter={onFilter} chosen={panel === "Acceptance"} />
              </Boundary>
            </>
          )}
        </Answered>
      </div>
      <Boundary region="events limits">
        <LimitsPanel limits={limits} running={running} chosen={panel === "Limits"} />
      </Boundary>
    </section>
  );
}

interface OutcomesPanelProps {
  readonly plot: OutcomePlot;
  readonly filter: ShownFilter;
  /** Shown where there is room for one panel. */
  readonly chosen: boolean;
}

function OutcomesPanel({ plot, filter, chosen }: OutcomesPanelProps) {
  const [bar, setBar] = useState<number>();
  const bars = useMemo(
    () => outcomeBars(plot, { outcome: filter.outcome, trim: filter.range === "all" }),
    [plot, filter.outcome, filter.range],
  );
  const at = bar === undefined ? undefined : bars.at[bar];
  const isEmpty = bars.leftOut === 0 && bars.series.every(({ counts }) => counts.every((count) => count === 0));
  const nothing = isEmpty && plot.behind === 0 && !isDrawnEmpty(filter, chosenBy) ? nothingCounted(filter, chosenBy, plot) : undefined;
  const notes = [
    plot.sampled !== undefined && (plot.sampled === 0 ? "none among the newest" : `newest ${formatCount(plot.sampled)} only`),
    bars.leftOut > 0 && `${formatCount(bars.leftOut)} older not drawn`,
    plot.behind > 0 && `${formatCount(plot.behind)} still to count`,
  ].filter(Boolean);
  return (
    <section className={styles.outcomes} aria-label="Outcomes over time" data-chosen={chosen}>
      <div className={styles.head}>
        <SectionTitle className={styles.title}>Outcomes over time</SectionTitle>
        <span className={styles.caption}>
          {nothing !== undefined ? (
            notes.join(" · ")
          ) : at === undefined ? (
            <span className={notes.length > 0 ? styles.note : undefined} title={[stepWords(bars), ...notes].join(" · ")}>
              {notes.length > 0 ? notes.join(" · ") : stepWords(bars)}
            </span>
          ) : (
            <time>{barLabel(at, bars.step)}</time>
          )}
        </span>
        {bars.series.map(({ outcome, counts }) => (
          <LegendKey
            key={outcome}
            color={`var(${outcomeToken(outcome)})`}
            value={bar === undefined || at === undefined ? undefined : formatCount(counts[bar] ?? 0)}
          >
            {outcome}
          </LegendKey>
        ))}
      </div>
      {nothing !== undefined ? (
        <p className={styles.nothing}>{nothing}</p>
      ) : (
        <OutcomePlotView
          bars={bars}
          onBar={setBar}
          label={`Outcomes over time, ${stepWords(bars)}: ${bars.series
            .map(({ outcome, counts }) => `${formatCount(counts.reduce((sum, count) => sum + count, 0))} ${outcome}`)
            .join(", ")}`}
        />
      )}
    </section>
  );
}
