import type uPlot from "uplot";
import { PlotBox } from "./plot-card.tsx";
import { clockMinutes, clockSeconds } from "./texts/time.ts";
import { withAlpha } from "./theme.ts";
import type { Tokens } from "./theme-tokens.ts";
import { labelFits, plotAxis, plotFrame, timeAxis, usePlot } from "./use-plot.ts";

/** What a plot over time shows. */
export interface TimePanel {
  readonly title: string;
  readonly series: readonly { readonly name: string; readonly color: keyof Tokens }[];
  readonly text: (value: number) => string;
  /** The axis reaches at least to this value, so that small values look small. */
  readonly leastTop: number;
  /** Least distance between two marks of the axis, since `text` rounds. */
  readonly leastStep: number;
  /** Points and no line: most of the time there may be no value. */
  readonly sparse?: boolean;
}

interface TimePlotProps {
  readonly panel: TimePanel;
  /** Seconds since the epoch, then the values of each series. */
  readonly data: readonly (readonly (number | null)[])[];
  /** The time shown, in seconds since the epoch: all plots have the same. */
  readonly range: readonly [from: number, to: number];
  readonly label: string;
  /** Plots of the same name show the pointer at the same time. */
  readonly syncKey: string;
  /** Index of the point under the pointer, in whichever plot it is. */
  onPoint(index: number | undefined): void;
}

const fillAlpha = 0.14;
const halfLabelPx = 24;
const valueSteps = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => (digit * 10 ** power) / 10)).flat();

/** Lines, or points, over time. */
export function TimePlot({ panel, data, range, label, syncKey, onPoint }: TimePlotProps) {
  const shown = { panel, range, syncKey, onPoint };
  const box = usePlot({ data: data as uPlot.AlignedData, shown, optionsOf, rebuildKey: `${syncKey} ${panel.title}` });
  return <PlotBox box={box} label={label} />;
}

type Shown = Pick<TimePlotProps, "panel" | "range" | "syncKey" | "onPoint">;

function optionsOf(shown: () => Shown, tokens: Tokens): Omit<uPlot.Options, "width" | "height"> {
  const axis = plotAxis(tokens);
  const { series, text, leastTop, leastStep, sparse } = shown().panel;
  const frame = plotFrame((index) => shown().onPoint(index), { size: 6 });
  return {
    padding: [8, 8, 0, 0],
    ...frame,
    cursor: { ...frame.cursor, sync: { key: shown().syncKey, setSeries: false } },
    scales: {
      x: { range: () => [...shown().range] },
      y: { range: (_plot, _least, top) => [0, Math.max(leastTop, (top ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...timeAxis(tokens),
        size: 26,
        gap: 8,
        space: 70,
        values: (plot, splits) => {
          const wide = shown().range[1] - shown().range[0] > 1_800;
          return splits.map((second) => (labelFits(plot, second, halfLabelPx) ? (wide ? clockMinutes : clockSeconds)(second * 1_000) : ""));
        },
      },
      {
        ...axis,
        size: (_plot, values) => Math.max(60, 14 + 6 * Math.max(...(values ?? [""]).map(({ length }) => length))),
        gap: 6,
        // A small plot has marks above the zero as well.
        space: (_plot, _axis, _least, _most, height) => Math.min(40, height / 3),
        incrs: valueSteps.filter((step) => step >= leastStep),
        values: (_plot, splits) => splits.map((value) => (value === 0 ? "0" : text(value).replace(".0 ", " "))),
      },
    ],
    series: [
      {},
      ...series.map(({ color }) => ({
        stroke: tokens[color] ?? "",
        width: 1.5,
        ...(sparse
          ? { paths: () => null, points: { show: true, size: 3, fill: tokens[color] ?? "", stroke: tokens[color] ?? "" } }
          : { fill: withAlpha(tokens[color], fillAlpha), points: { show: false } }),
      })),
    ],
  };
}
