import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import type { RateSample } from "../../../../contract/traffic/row.ts";
import { useRates } from "../../control/use-store.ts";
import { PageHeading, PageTitle } from "../../ui/panel.tsx";
import { StopAllSamples } from "../../ui/services/sample-traffic.tsx";
import { type Shape, ShapeLabel, shapeOf } from "../../ui/status/status-shape.tsx";
import { formatByteRate, formatCount, formatRate, pluralOf, pluralOfRate } from "../../ui/texts/quantity.ts";
import styles from "./overview.module.css";

const shapes: readonly [shape: Shape, word: string][] = [
  ["running", "running"],
  ["pending", "changing"],
  ["stopped", "stopped"],
  ["failed", "failed"],
  ["warning", "not answering"],
];

function totalsOf(services: readonly ServiceView[], rates: ReadonlyMap<ServiceId, RateSample>) {
  const totals = { clients: 0, itemsPerSecond: 0, bytesPerSecond: 0 };
  for (const { id, status, rateUnit } of services) {
    const rate = status.state === "running" ? rates.get(id) : undefined;
    if (!rate) continue;
    totals.clients += rate.clients ?? 0;
    // Bits are no items; their bytes are in the other sum.
    if (!rateUnit.endsWith("bit/s")) totals.itemsPerSecond += rate.itemsPerSecond;
    totals.bytesPerSecond += rate.bytesInPerSecond + rate.bytesOutPerSecond;
  }
  return totals;
}

interface OverviewHeadingProps {
  readonly services: readonly ServiceView[];
  readonly unbuilt: readonly ServiceView[];
}

export function OverviewHeading({ services, unbuilt }: OverviewHeadingProps) {
  const { clients, itemsPerSecond, bytesPerSecond } = totalsOf(services, useRates());
  return (
    <PageHeading>
      <PageTitle>Overview</PageTitle>
      <div className={styles.states}>
        {shapes.map(([shape, word]) => {
          const count = services.filter(({ status }) => shapeOf(status) === shape).length;
          if (count === 0) return null;
          return (
            <ShapeLabel key={shape} shape={shape}>
              {`${count} ${word}`}
            </ShapeLabel>
          );
        })}
        {unbuilt.length > 0 && (
          <span className={styles.unbuilt} title={unbuilt.map(({ title }) => title).join(", ")}>
            {`${unbuilt.length} not built yet`}
          </span>
        )}
      </div>
      <StopAllSamples services={services} />
      <span className={styles.totals}>
        <strong>{formatCount(clients)}</strong> {pluralOf(clients, "client", "clients")} · <strong>{formatRate(itemsPerSecond)}</strong>{" "}
        {pluralOfRate(itemsPerSecond, "item", "items")}/s · <strong>{formatByteRate(bytesPerSecond).split(" ")[0]}</strong>{" "}
        {formatByteRate(bytesPerSecond).split(" ")[1]}
      </span>
    </PageHeading>
  );
}
