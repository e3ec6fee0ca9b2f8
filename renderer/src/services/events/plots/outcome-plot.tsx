import { useMemo } from "react";
import uPlot from "uplot";
import { PlotBox } from "../../../ui/plot-card.tsx";
import { formatCount } from "../../../ui/texts/quantity.ts";
import type { Tokens } from "../../../ui/theme-tokens.ts";
import { labelFits, plotAxis, plotFrame, usePlot } from "../../../ui/use-plot.ts";
import { barLabel, labelledBars, type OutcomeBars, outcomeToken, stackedBars } from "./outcome-bars.ts";
import styles from "./plots-band.module.css";

interface OutcomePlotViewProps {
  readonly bars: OutcomeBars;
  readonly label: string;
  /** Index of the bar under the pointer. */
  readonly onBar: (index: number | undefined) => void;
}

const widestBarPx = 36;
const labelPx = 74;
const leastTop = 4;

export function OutcomePlotView({ bars, label, onBar }: OutcomePlotViewProps) {
  const data = useMemo(() => stackedBars(bars) as uPlot.AlignedData, [bars]);
  const box = usePlot({ data, shown: { bars, onBar }, optionsOf, rebuildKey: colorsOf(bars).join() });
  return <PlotBox className={styles.plot} box={box} label={label} />;
}

type Shown = Pick<OutcomePlotViewProps, "bars" | "onBar">;

const colorsOf = (bars: OutcomeBars) => bars.series.map(({ outcome }) => outcomeToken(outcome)).reverse();

function optionsOf(shown: () => Shown, tokens: Tokens): Omit<uPlot.Options, "width" | "height"> {
  const axis = plotAxis(tokens);
  const colors = colorsOf(shown().bars);
  return {
    padding: [8, 8, 0, 0],
    ...plotFrame((index) => shown().onBar(index)),
    scales: {
      x: { time: false, range: () => [-0.5, Math.max(0.5, shown().bars.at.length - 0.5)] },
      y: { range: (_plot, _least, top) => [0, Math.max(leastTop, top * 1.06)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 20,
        gap: 4,
        splits: (plot) => labelledBars(shown().bars, Math.max(2, Math.floor(plot.bbox.width / devicePixelRatio / labelPx))),
        values: (plot, splits) => {
          const { at, step } = shown().bars;
          const halfLabelPx = step === "hour" ? 34 : 14;
          return splits.map((index) => (labelFits(plot, index, halfLabelPx) ? barLabel(at[index] ?? 0, step) : ""));
        },
      },
      {
        ...axis,
        size: (_plot, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((value) => value.length)),
        gap: 6,
        space: 32,
        incrs: [1, 2, 5].flatMap((digit) => Array.from({ length: 9 }, (_, power) => digit * 10 ** power)).sort((one, other) => one - other),
        values: (_plot, splits) => splits.map((count) => formatCount(count)),
      },
    ],
    series: [
      {},
      ...colors.map(
        (color): uPlot.Series => ({
          fill: tokens[color] ?? "",
          width: 0,
          points: { show: false },
          ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.78, widestBarPx, 1] }) }),
        }),
      ),
    ],
  };
}
