import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { useTokens } from "../components/use-tokens.ts";
import { formatCount } from "../format/quantity.ts";
import type { Tokens } from "../theme.ts";
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

/** Rebuilt when the scheme or the series change; else only given new data. */
export function OutcomePlotView({ bars, label, onBar }: OutcomePlotViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const told = useRef({ onBar, bars });
  const tokens = useTokens();
  const colorKey = bars.series
    .map(({ outcome }) => outcomeToken(outcome))
    .reverse()
    .join();
  useEffect(() => {
    told.current = { onBar, bars };
  }, [onBar, bars]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(
      options(element, tokens, colorKey.split(",").filter(Boolean) as (keyof Tokens)[], () => told.current),
      [[]],
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: element.clientHeight }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current = null;
      made.destroy();
    };
  }, [tokens, colorKey]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a plot that was just rebuilt needs its data again.
  useEffect(() => {
    told.current.bars = bars;
    plot.current?.setData(stackedBars(bars) as uPlot.AlignedData);
  }, [bars, tokens, colorKey]);

  return <div className={styles.plot} ref={box} role="img" aria-label={label} />;
}

interface Told {
  readonly onBar: (index: number | undefined) => void;
  bars: OutcomeBars;
}

function options(element: HTMLElement, tokens: Tokens, colors: readonly (keyof Tokens)[], told: () => Told): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: tokens["--bl-text-3"] ?? "",
    font: "11px Inter",
    grid: { stroke: tokens["--bl-line"] ?? "", width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { points: { show: false }, drag: { setScale: false, x: false, y: false }, y: false },
    hooks: { setCursor: [(plot) => told().onBar(plot.cursor.idx ?? undefined)] },
    scales: {
      x: { time: false, range: () => [-0.5, Math.max(0.5, told().bars.at.length - 0.5)] },
      y: { range: (_plot, _least, top) => [0, Math.max(leastTop, top * 1.06)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 20,
        gap: 4,
        splits: (plot) => labelledBars(told().bars, Math.max(2, Math.floor(plot.bbox.width / devicePixelRatio / labelPx))),
        values: (plot, splits) => {
          const { at, step } = told().bars;
          const fits = (index: number) => plot.valToPos(index, "x") < plot.bbox.width / devicePixelRatio - (step === "hour" ? 34 : 14);
          return splits.map((index) => (fits(index) ? barLabel(at[index] ?? 0, step) : ""));
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
          ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.84, widestBarPx, 1] }) }),
        }),
      ),
    ],
  };
}
