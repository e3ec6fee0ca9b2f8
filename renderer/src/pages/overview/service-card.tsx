import type { ServiceView } from "../../../../contract/service.ts";
import { hashOf, servicePage } from "../../app/route.ts";
import { FailureBlock } from "../../ui/failure-block.tsx";
import { Since } from "../../ui/since.tsx";
import { StateLabel } from "../../ui/status-shape.tsx";
import { useServiceOperations } from "../../ui/use-service-operations.ts";
import { CardButtons } from "./card-buttons.tsx";
import { CardEndpoints } from "./card-endpoints.tsx";
import { CardFigures } from "./card-figures.tsx";
import { cardNote } from "./card-note.ts";
import styles from "./service-card.module.css";

export function ServiceCard({ service }: { service: ServiceView }) {
  const operations = useServiceOperations();
  const { id, title, status } = service;
  return (
    <article className={styles.card} aria-labelledby={`card-${id}`}>
      <div className={styles.head}>
        <h2 className={styles.title} id={`card-${id}`}>
          <a href={hashOf(servicePage(id))}>{title}</a>
        </h2>
        <StateLabel state={status.state} />
        <span className={styles.since}>
          <Since status={status} />
        </span>
        <CardButtons service={service} operations={operations} />
      </div>
      {status.state === "failed" ? (
        <div className={styles.failed}>
          <FailureBlock id={id} failure={status.failure} retryAt={status.retryAt} operations={operations} />
        </div>
      ) : (
        <CardFigures service={service} note={cardNote(service)} />
      )}
      <CardEndpoints service={service} />
    </article>
  );
}
