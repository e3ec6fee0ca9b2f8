import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { useTokens, withAlpha } from "../components/use-tokens.ts";
import { formatByteRate } from "../format/quantity.ts";
import { clockMinutes, clockSeconds } from "../format/time.ts";
import type { Tokens } from "../theme.ts";
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

/** Rebuilt when the scheme or the number of series changes; else only given new data. */
export function TrafficPlot({ data, colors, label, onPoint }: TrafficPlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const point = useRef(onPoint);
  const tokens = useTokens();
  const colorKey = colors.join();
  useEffect(() => {
    point.current = onPoint;
  }, [onPoint]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(
      options(element, tokens, colorKey ? (colorKey.split(",") as (keyof Tokens)[]) : [], (index) => point.current(index)),
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
    plot.current?.setData(data as uPlot.AlignedData);
  }, [data, tokens, colorKey]);

  return <div className={styles.plot} ref={box} role="img" aria-label={label} />;
}

function options(
  element: HTMLElement,
  tokens: Tokens,
  colors: readonly (keyof Tokens)[],
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: tokens["--bl-text-3"] ?? "",
    font: "11px Inter",
    grid: { stroke: tokens["--bl-line"] ?? "", width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { points: { show: false }, drag: { setScale: false, x: false, y: false }, y: false },
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? undefined)] },
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
          const fits = (second: number) => plot.valToPos(second, "x") < plot.bbox.width / devicePixelRatio - halfLabelPx;
          return splits.map((second) => (fits(second) ? (wide ? clockMinutes : clockSeconds)(second * 1_000) : ""));
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
