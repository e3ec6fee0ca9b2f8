import { useMemo, useState } from "react";
import type uPlot from "uplot";
import type { ServiceId } from "../../../../contract/service.ts";
import { seriesToken } from "../../services/registry.ts";
import { PlotBox } from "../../ui/plot-card.tsx";
import { formatByteRate } from "../../ui/texts/quantity.ts";
import { clockMinutes, clockSeconds } from "../../ui/texts/time.ts";
import { withAlpha } from "../../ui/theme.ts";
import type { Tokens } from "../../ui/theme-tokens.ts";
import { labelFits, plotAxis, plotFrame, timeAxis, usePlot } from "../../ui/use-plot.ts";
import { ServiceName } from "../service/service-toggles.tsx";
import styles from "./traffic-panel.module.css";
import { decadeSplits, linearBelowBps, type TrafficLine } from "./traffic-series.ts";

interface TrafficPlotProps {
  readonly at: readonly number[];
  readonly lines: readonly TrafficLine[];
  readonly label: string;
  readonly titleOf: (id: ServiceId) => string;
}

const fillAlpha = 0.12;
const leastTopBps = 1_000;
const leastLogTopBps = 10_000;
const halfLabelPx = 16;
const leastLabelSpacePx = 17;
const axisPx = 66;
const rightPx = 8;

/** A line for each service, on a logarithmic scale if there are several; the values at the pointer are shown beside it. */
export function TrafficPlot({ at, lines, label, titleOf }: TrafficPlotProps) {
  const [point, setPoint] = useState<number>();
  const colors = lines.map(({ service }) => seriesToken(service));
  const data = useMemo(() => [at.map((ms) => ms / 1_000), ...lines.map(({ bytesPerSecond }) => bytesPerSecond)], [at, lines]);
  const linearBps = useMemo(() => linearBelowBps(lines), [lines]);
  const box = usePlot({
    data: data as uPlot.AlignedData,
    shown: { colors, linearBps, onPoint: setPoint },
    optionsOf,
    rebuildKey: `${linearBps} ${colors.join()}`,
  });
  return (
    <div className={styles.plotBox}>
      <PlotBox box={box} label={label} />
      {point !== undefined && at[point] !== undefined && (
        <Readout
          at={at[point]}
          place={point / Math.max(1, at.length - 1)}
          values={lines.map((line) => [line.service, line.bytesPerSecond[point] ?? null])}
          titleOf={titleOf}
        />
      )}
    </div>
  );
}

interface ReadoutProps extends Pick<TrafficPlotProps, "titleOf"> {
  readonly at: number;
  /** Of the pointer, from 0 to 1. */
  readonly place: number;
  readonly values: readonly (readonly [service: ServiceId, bytesPerSecond: number | null])[];
}

/** On the side of the pointer that has more room. */
function Readout({ at, place, values, titleOf }: ReadoutProps) {
  const x = `calc(${axisPx}px + (100% - ${axisPx + rightPx}px) * ${place})`;
  return (
    <div className={styles.readout} style={place < 0.5 ? { left: `calc(${x} + 12px)` } : { right: `calc(100% - ${x} + 12px)` }}>
      <time>{clockSeconds(at)}</time>
      {values.map(([service, bytesPerSecond]) => (
        <div key={service}>
          <ServiceName id={service}>{titleOf(service)}</ServiceName>
          <span>{bytesPerSecond === null ? "–" : formatByteRate(bytesPerSecond)}</span>
        </div>
      ))}
    </div>
  );
}

interface Shown {
  readonly colors: readonly (keyof Tokens)[];
  readonly linearBps: number;
  /** Index of the point under the pointer. */
  readonly onPoint: (index: number | undefined) => void;
}

function optionsOf(shown: () => Shown, tokens: Tokens): Omit<uPlot.Options, "width" | "height"> {
  const axis = plotAxis(tokens);
  const { colors, linearBps } = shown();
  const isLogarithmic = colors.length > 1;
  return {
    padding: [10, rightPx, 0, 0],
    ...plotFrame((index) => shown().onPoint(index)),
    scales: {
      y: isLogarithmic
        ? { distr: 4, asinh: linearBps, range: (_plot, _least, top) => [0, Math.max(leastLogTopBps, top * 1.4)] }
        : { range: (_plot, _least, top) => [0, Math.max(leastTopBps, top * 1.1)] },
    },
    axes: [
      {
        ...timeAxis(tokens),
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
        size: axisPx,
        gap: 6,
        space: (_plot, _axis, _least, _top, heightPx) => Math.max(leastLabelSpacePx, heightPx / 4.5),
        ...(isLogarithmic && {
          splits: (plot, _axis, _least, top) => decadeSplits(linearBps, top, plot.bbox.height / devicePixelRatio, leastLabelSpacePx),
          filter: (_plot, splits) => splits,
        }),
        values: (_plot, splits) => splits.map((bps) => formatByteRate(bps).replace(".0 ", " ")),
      },
    ],
    series: [
      {},
      ...colors.map((color) => ({
        stroke: tokens[color] ?? "",
        width: 1.5,
        points: { show: false },
        // Several areas would cover each other.
        ...(!isLogarithmic && { fill: withAlpha(tokens[color], fillAlpha) }),
      })),
    ],
  };
}
