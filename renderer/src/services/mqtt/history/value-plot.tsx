import { Menu, UnstyledButton } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type uPlot from "uplot";
import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { clockSeconds, clockTime } from "../../../ui/texts/time.ts";
import { withAlpha } from "../../../ui/theme.ts";
import type { Tokens } from "../../../ui/theme-tokens.ts";
import { labelFits, plotAxis, plotFrame, timeAxis, usePlot } from "../../../ui/use-plot.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { wholePayload } from "./numeric-fields.ts";
import { aloneBetween, createPlotReader, type PlotSeries, readingText } from "./plot-series.ts";
import styles from "./value-plot.module.css";

const fillAlpha = 0.16;
const nameOf = (field: string) => (field === wholePayload ? "value" : field);

/** Plots a numeric field of the shown messages over time; renders nothing if there are no numbers. */
export function ValuePlot({ messages, view }: { readonly messages: readonly MqttMessageSummary[]; readonly view: FormatChoice }) {
  const [chosenField, setChosenField] = useState<string>();
  const [point, setPoint] = useState<number>();
  const [read] = useState(createPlotReader);
  const series = useMemo(() => read(messages, view, chosenField), [read, messages, view, chosenField]);
  const { field, fields, unit, values, at, least, mean, most } = series;
  // A single value is not plotted; uPlot would give it an axis of one day.
  if (field === undefined || values.length < 2) return null;
  const text = (value: number) => readingText(value, most - least);
  const pointed = point === undefined ? undefined : values[point];
  return (
    <div className={styles.band}>
      <div className={styles.head}>
        <span className={styles.what}>
          <span className={styles.prefix}>Plot of </span>
          {fields.length > 1 ? (
            <Menu position="bottom-start" withinPortal={false}>
              <Menu.Target>
                <UnstyledButton className={styles.field} aria-label={`Plotted field: ${nameOf(field)}`}>
                  {nameOf(field)}
                  <IconChevronDown size={11} stroke={1.5} aria-hidden="true" />
                </UnstyledButton>
              </Menu.Target>
              <Menu.Dropdown mah="40vh" style={{ overflowY: "auto" }}>
                {fields.map((name) => (
                  <Menu.Item key={name} onClick={() => setChosenField(name)}>
                    {nameOf(name)}
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
          ) : (
            <b>{nameOf(field)}</b>
          )}
          {unit && ` ${unit}`}
          <span className={styles.count}>{`${unit ? ", " : " "}last ${formatCountOf(values.length, "message")}`}</span>
        </span>
        <span>
          {pointed !== undefined && point !== undefined ? (
            `${clockTime((at[point] ?? 0) * 1_000)} · ${text(pointed)}`
          ) : (
            <>
              {`min ${text(least)}`}
              <span className={styles.mean}>{` · mean ${text(mean)}`}</span>
              {` · max ${text(most)}`}
            </>
          )}
        </span>
      </div>
      <PlotCanvas series={series} onPoint={setPoint} />
    </div>
  );
}

interface PlotCanvasProps {
  readonly series: PlotSeries;
  /** Index of the point under the pointer. */
  readonly onPoint: (index: number | undefined) => void;
}

function PlotCanvas({ series, onPoint }: PlotCanvasProps) {
  const data = useMemo<uPlot.AlignedData>(() => [[...series.at], [...series.values]], [series]);
  const box = usePlot({ data, shown: { series, onPoint }, optionsOf });
  return <div className={styles.plot} ref={box} role="img" aria-label={`Plot of ${nameOf(series.field ?? "")} over time`} />;
}

function optionsOf(shown: () => PlotCanvasProps, tokens: Tokens): Omit<uPlot.Options, "width" | "height"> {
  const axis = plotAxis(tokens);
  return {
    padding: [6, 0, 0, 0],
    ...plotFrame((index) => shown().onPoint(index), { size: 6 }),
    scales: { x: { range: (_plot, first, last) => (first === last ? [first - 1, last + 1] : [first, last]) }, y: { range: roomAround } },
    axes: [
      {
        ...timeAxis(tokens),
        size: 20,
        gap: 4,
        space: (_plot, _axis, first, last) => timeLabel(last - first).spacePx,
        values: (plot, splits) => {
          const { text, halfPx } = timeLabel((plot.scales["x"]?.max ?? 0) - (plot.scales["x"]?.min ?? 0));
          return splits.map((second) => (labelFits(plot, second, halfPx) ? text(second * 1_000) : ""));
        },
      },
      {
        ...axis,
        size: (_plot, values) => 16 + 6.4 * Math.max(3, ...(values ?? []).map((value) => value.length)),
        gap: 6,
        space: 22,
      },
    ],
    series: [
      {},
      {
        stroke: tokens["--bl-s1"] ?? "",
        width: 1.5,
        fill: withAlpha(tokens["--bl-s1"], fillAlpha),
        // No line over gaps.
        gaps: (plot, _series, _first, _last, known) => {
          for (const index of shown().series.gaps) known.push([pixelOf(plot, index - 1), pixelOf(plot, index)]);
          return known;
        },
        points: { show: true, filter: (plot) => pointsShown(plot, shown().series.gaps), size: 5, fill: tokens["--bl-s1"] ?? "" },
      },
    ],
  };
}

/** Of the time axis: to the millisecond where less than a second may be between two labels. */
export const timeLabel = (seconds: number) =>
  seconds < 5 ? { text: clockTime, halfPx: 38, spacePx: 90 } : { text: clockSeconds, halfPx: 24, spacePx: 76 };

const pixelOf = (plot: uPlot, index: number) => plot.valToPos(plot.data[0]?.[index] ?? 0, "x", true);

function pointsShown(plot: uPlot, gaps: readonly number[]): number[] {
  const count = plot.data[0]?.length ?? 0;
  return count < 3 ? Array.from({ length: count }, (_, index) => index) : aloneBetween(gaps, count);
}

/** A margin of a tenth above and below; a constant value is in the middle. */
function roomAround(_plot: uPlot, least: number, most: number): [number, number] {
  const room = most > least ? (most - least) * 0.1 : Math.abs(least) * 0.05 || 1;
  return [least - room, most + room];
}
