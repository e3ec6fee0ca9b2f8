import type uPlot from "uplot";
import { formatByteRate } from "../../ui/texts/quantity.ts";
import { clockMinutes, clockSeconds } from "../../ui/texts/time.ts";
import { type Tokens, withAlpha } from "../../ui/theme.ts";
import { labelFits, plotAxis, plotFrame, usePlot } from "../../ui/use-plot.ts";
import styles from "./traffic-panel.module.css";

interface TrafficPlotProps {
  /** Seconds, then each series stacked on those before. */
  readonly data: readonly (readonly number[])[];
  readonly colors: readonly (keyof Tokens)[];
  readonly label: string;
  /** Index of the point under the pointer. */
  onPoint(index: number | undefined): void;
}

const fillAlpha = 0.26;
const leastTopBps = 1_000;
const halfLabelPx = 16;
const leastLabelSpacePx = 22;

export function TrafficPlot({ data, colors, label, onPoint }: TrafficPlotProps) {
  const box = usePlot({ data: data as uPlot.AlignedData, shown: { colors, onPoint }, optionsOf, rebuildKey: colors.join() });
  return <div className={styles.plot} ref={box} role="img" aria-label={label} />;
}

type Shown = Pick<TrafficPlotProps, "colors" | "onPoint">;

function optionsOf(shown: () => Shown, tokens: Tokens): Omit<uPlot.Options, "width" | "height"> {
  const axis = plotAxis(tokens);
  const { colors } = shown();
  return {
    padding: [10, 8, 0, 0],
    ...plotFrame((index) => shown().onPoint(index)),
    scales: { y: { range: (_plot, _least, top) => [0, Math.max(leastTopBps, top * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 22,
        gap: 4,
        space: 90,
        values: (plot, splits) => {
          const wide = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > 1_800;
          return splits.map((second) => (labelFits(plot, second, halfLabelPx) ? (wide ? clockMinutes : clockSeconds)(second * 1_000) : ""));
        },
      },
      {
        ...axis,
        size: 66,
        gap: 6,
        space: (_plot, _axis, _least, _top, heightPx) => Math.max(leastLabelSpacePx, heightPx / 4.5),
        values: (_plot, splits) => splits.map((bps) => formatByteRate(bps).replace(".0 ", " ")),
      },
    ],
    series: [
      {},
      ...colors.map((color) => ({
        stroke: tokens[color] ?? "",
        width: 1.5,
        fill: withAlpha(tokens[color], fillAlpha),
        points: { show: false },
      })),
    ],
    // Each fill ends where the series below it begins, so that translucent areas do not add up.
    bands: colors
      .slice(1)
      .map((color, index) => ({ series: [index + 2, index + 1] as [number, number], fill: withAlpha(tokens[color], fillAlpha) })),
  };
}
