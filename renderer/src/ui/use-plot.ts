import { type RefObject, useEffect, useRef } from "react";
import uPlot from "uplot";
import { useTokens } from "./theme.ts";
import type { Tokens } from "./theme-tokens.ts";

interface PlotUse<Shown> {
  /** Redrawn when the array is replaced. */
  readonly data: uPlot.AlignedData;
  /** Values for the functions of the options, which always get the newest. */
  readonly shown: Shown;
  /** A function of the module: the plot is rebuilt if it changes. */
  readonly optionsOf: (shown: () => Shown, tokens: Tokens) => Omit<uPlot.Options, "width" | "height">;
  /** The plot is rebuilt if the key or the colour scheme changes; otherwise it only gets new data. */
  readonly rebuildKey?: string;
}

/** A uPlot in the element with the ref, of the same size. */
export function usePlot<Shown>({ data, shown, optionsOf, rebuildKey = "" }: PlotUse<Shown>): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const newest = useRef(shown);
  const tokens = useTokens();
  useEffect(() => {
    newest.current = shown;
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the options are made by the key.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const size = () => ({ width: element.clientWidth, height: element.clientHeight });
    const options = optionsOf(() => newest.current, tokens);
    const made = new uPlot({ ...options, ...size() }, options.series.map(() => []) as unknown as uPlot.AlignedData, element);
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize(size()));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current = null;
      made.destroy();
    };
  }, [optionsOf, tokens, rebuildKey]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a plot that was just rebuilt needs its data again.
  useEffect(() => {
    plot.current?.setData(data);
    // Where the numbers of bars are the same, uPlot keeps the labels of the bars before.
    plot.current?.redraw(false, true);
  }, [data, tokens, rebuildKey]);
  return box;
}

/** Of every plot: no legend, no zoom, and the index of the point under the pointer is reported. */
export const plotFrame = (onPoint: (index: number | undefined) => void, points: uPlot.Cursor.Points = { show: false }) =>
  ({
    legend: { show: false },
    cursor: { points, drag: { setScale: false, x: false, y: false }, y: false },
    hooks: { setCursor: [(plot: uPlot) => onPoint(plot.cursor.idx ?? undefined)] },
  }) satisfies Partial<uPlot.Options>;

export const plotAxis = (tokens: Tokens): uPlot.Axis => ({
  stroke: tokens["--bl-text-3"] ?? "",
  font: "11px Inter",
  grid: { stroke: tokens["--bl-line"] ?? "", width: 1 },
  ticks: { show: false },
});

const daySeconds = 86_400;
/** Between two times on an axis, in seconds. uPlot's own have nothing between one minute and five. */
export const timeSteps: readonly number[] = [
  ...[
    0.001, 0.01, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200,
  ],
  ...[1, 2, 4, 8, 16, 32, 64].map((days) => days * daySeconds),
];

/** Of a plot over time. `values` writes the labels. */
export const timeAxis = (tokens: Tokens): uPlot.Axis => ({ ...plotAxis(tokens), grid: { show: false }, incrs: [...timeSteps] });

/** Labels that would be cut at the right edge are left out. */
export const labelFits = (plot: uPlot, at: number, halfLabelPx: number): boolean =>
  plot.valToPos(at, "x") < plot.bbox.width / devicePixelRatio - halfLabelPx;
