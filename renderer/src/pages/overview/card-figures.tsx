import type { ServiceView } from "../../../../contract/service.ts";
import type { Figure, RateSample } from "../../../../contract/traffic/row.ts";
import { sparklineSamples } from "../../control/dashboard-stores.ts";
import { useRate, useRecentRate } from "../../control/use-store.ts";
import { seriesToken } from "../../services/registry.ts";
import { RestartNeeded } from "../../ui/status/status-shape.tsx";
import { formatByteRate, formatBytes, formatCount, formatCountOf, formatRate } from "../../ui/texts/quantity.ts";
import styles from "./service-card.module.css";
import { Sparkline } from "./sparkline.tsx";

function figureText({ label, value, unit }: Figure): string {
  switch (unit) {
    case "":
      return `${formatCount(value)} ${label}`;
    case "B":
      return `${formatBytes(value)} ${label}`;
    case "B/s":
      return `${formatByteRate(value)} ${label}`;
    default:
      return `${formatRate(value)} ${unit} ${label}`;
  }
}

const factsOf = ({ figures, note }: RateSample): readonly string[] => [...figures.map(figureText), ...(note === "" ? [] : [note])];

export function CardFigures({ service, note }: { service: ServiceView; note: string }) {
  const newest = useRate(service.id);
  const recent = useRecentRate(service.id);
  const running = service.status.state === "running";
  const rate = running ? newest : undefined;
  const values = running ? recent.itemsPerSecond : [];
  const unit = service.rateUnit;
  const perSecond = formatRate(rate?.itemsPerSecond ?? 0);
  const known = rate ? factsOf(rate) : [];
  const facts = known.length > 0 ? known : [note];
  return (
    <>
      <div className={styles.figures}>
        <span className={running ? styles.rate : `${styles.rate} ${styles.idle}`}>{perSecond}</span>
        <span className={styles.unit}>{unit}</span>
        {service.restartNeeded && <RestartNeeded className={styles.restart} />}
        {rate && !service.restartNeeded && (
          <span className={styles.clients}>
            {rate.clients !== undefined && `${formatCountOf(rate.clients, "client")} · `}
            {formatByteRate(rate.bytesInPerSecond + rate.bytesOutPerSecond)}
          </span>
        )}
      </div>
      <Sparkline
        values={values}
        capacity={sparklineSamples}
        color={seriesToken(service.id)}
        label={`${service.title}: ${perSecond} ${unit}, the last two minutes`}
      />
      <p className={styles.facts} title={facts.join(" · ")}>
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
    </>
  );
}
