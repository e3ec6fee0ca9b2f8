import { useMemo, useRef } from "react";
import type { TurnTotals } from "../../../../../contract/services/webrtc.ts";
import { LegendKey } from "../../../ui/plot-card.tsx";
import { formatByteRate } from "../../../ui/texts/quantity.ts";
import { type TimePanel, TimePlot } from "../../../ui/time-plot.tsx";
import styles from "./relays.module.css";

const shownSeconds = 120;
const leastMs = 500;
/** Nothing is known of a longer time, in which another tab was shown: the lines are interrupted. */
const gapMs = 5_000;

interface Points {
  readonly at: readonly number[];
  readonly to: readonly (number | null)[];
  readonly from: readonly (number | null)[];
}

interface Totals extends Points {
  readonly turn: TurnTotals;
  readonly atMs: number;
}

const panel: TimePanel = {
  title: "Bytes per second of all relays",
  series: [
    { name: "To peers", color: "--bl-s1" },
    { name: "From peers", color: "--bl-s2" },
  ],
  text: formatByteRate,
  leastTop: 1_000,
  leastStep: 10,
};

/** What all relays passed on in each of the last seconds, since the tab was shown. */
export function TotalPlots({ turn }: { readonly turn: TurnTotals }) {
  const totals = useTotals(turn);
  const data = useMemo(() => [totals.at, totals.to, totals.from], [totals]);
  const last = totals.at.at(-1) ?? Date.now() / 1_000;
  const range = useMemo<readonly [number, number]>(() => [last - shownSeconds, last], [last]);
  const [to, from] = [totals.to.at(-1) ?? 0, totals.from.at(-1) ?? 0];
  return (
    <section className={styles.totals} aria-label="All relays">
      <div className={styles.key}>
        <LegendKey color="var(--bl-s1)" value={formatByteRate(to)}>
          To peers
        </LegendKey>
        <LegendKey color="var(--bl-s2)" value={formatByteRate(from)}>
          From peers
        </LegendKey>
      </div>
      <div className={styles.plot}>
        <TimePlot
          panel={panel}
          data={data}
          range={range}
          label={`Bytes per second of all relays over the last two minutes; ${formatByteRate(to)} to peers, ${formatByteRate(from)} from peers`}
          syncKey="relays"
          onPoint={() => {}}
        />
      </div>
    </section>
  );
}

function useTotals(turn: TurnTotals): Points {
  const known = useRef<Totals>(undefined);
  const nowMs = performance.now();
  const last = known.current;
  if (!last) known.current = { at: [], to: [], from: [], turn, atMs: nowMs };
  else if (last.turn !== turn && nowMs - last.atMs > gapMs) {
    known.current = {
      at: [...last.at, Date.now() / 1_000],
      to: [...last.to, null],
      from: [...last.from, null],
      ...{ turn, atMs: nowMs },
    };
  } else if (last.turn !== turn && nowMs - last.atMs >= leastMs) {
    const seconds = (nowMs - last.atMs) / 1_000;
    const newest = (values: readonly (number | null)[], value: number) => [...values.slice(1 - shownSeconds), Math.max(0, value)];
    known.current = {
      at: [...last.at.slice(1 - shownSeconds), Date.now() / 1_000],
      to: newest(last.to, (turn.toPeers.bytes - last.turn.toPeers.bytes) / seconds),
      from: newest(last.from, (turn.fromPeers.bytes - last.turn.fromPeers.bytes) / seconds),
      turn,
      atMs: nowMs,
    };
  }
  return known.current as Totals;
}
