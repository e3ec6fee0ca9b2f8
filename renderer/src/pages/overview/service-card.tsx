import { isSilent, type ServiceView } from "../../../../contract/service.ts";
import { hashOf, servicePage } from "../../app/route.ts";
import { Card } from "../../ui/plot-card.tsx";
import { useServiceOperations } from "../../ui/services/use-service-operations.ts";
import { FailureBlock } from "../../ui/status/failure-block.tsx";
import { Since } from "../../ui/status/since.tsx";
import { StateLabel } from "../../ui/status/status-shape.tsx";
import { clockMinutes, formatDuration } from "../../ui/texts/time.ts";
import { CardButtons } from "./card-buttons.tsx";
import { CardEndpoints } from "./card-endpoints.tsx";
import { CardFigures } from "./card-figures.tsx";
import styles from "./service-card.module.css";

export function ServiceCard({ service }: { service: ServiceView }) {
  const operations = useServiceOperations();
  const { id, title, status } = service;
  return (
    <Card as="article" className={styles.card} aria-labelledby={`card-${id}`}>
      <div className={styles.head}>
        <h2 className={styles.title} id={`card-${id}`}>
          <a href={hashOf(servicePage(id))}>{title}</a>
        </h2>
        <StateLabel status={status} />
        <span className={styles.since}>
          <Since status={status} />
        </span>
        <CardButtons service={service} operations={operations} />
      </div>
      {status.state === "failed" ? (
        <div className={styles.failed}>
          <FailureBlock id={id} failure={status.failure} retryAt={status.retryAt} operations={operations} isNarrow />
        </div>
      ) : (
        <CardFigures service={service} note={cardNote(service)} />
      )}
      {/* The room is for the failure: with its addresses, which nobody can reach, the card would be higher than the others. */}
      {status.state !== "failed" && <CardEndpoints service={service} />}
    </Card>
  );
}

/** The note on the card of a service that is not running. */
export function cardNote({ status, purpose }: Pick<ServiceView, "status" | "purpose">): string {
  switch (status.state) {
    case "stopped":
      return status.lastRun
        ? `Last ran ${clockMinutes(status.lastRun.from)} for ${formatDuration(status.lastRun.to - status.lastRun.from)}`
        : purpose;
    case "starting":
      return status.doing === undefined ? "Starting" : `Starting: ${status.doing}`;
    case "stopping":
      return "Stopping: open connections are being closed";
    case "running":
      return isSilent(status) ? "Its process hangs or is very busy. A restart ends it." : purpose;
    case "failed":
      return purpose;
    default:
      return status satisfies never;
  }
}
