import type { ServiceView } from "../../../../contract/service.ts";
import { useServices } from "../../control/use-store.ts";
import { Loading } from "../../ui/status/answered.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { FirstRun } from "../first-run/first-run.tsx";
import { endpointLines } from "./card-endpoints.tsx";
import styles from "./overview.module.css";
import { OverviewHeading } from "./overview-heading.tsx";
import { ServiceCard } from "./service-card.tsx";
import { TrafficPanel } from "./traffic-panel.tsx";
import { WorthKnowing } from "./worth-knowing.tsx";

const neverStarted = ({ status }: ServiceView) => status.state === "stopped" && !status.lastRun;

export interface CardGrid {
  readonly columns: number;
  /** The number of columns of "Worth knowing": what the cards leave free in the last row, or a whole row. */
  readonly lastSpan: number;
  readonly rows: number;
}

/** The grid for this number of services, in which every row is full. */
export function cardGrid(services: number): CardGrid {
  const columns = services < 4 ? services + 1 : services < 6 ? 3 : 4;
  return { columns, lastSpan: columns - (services % columns), rows: Math.floor(services / columns) + 1 };
}

export function Overview() {
  const services = useServices();
  const built = services.filter((service) => service.built);
  const unbuilt = services.filter((service) => !service.built);
  const { columns, lastSpan, rows } = cardGrid(built.length);
  if (services.length === 0) return <Loading what="the services" />;
  if (built.every(neverStarted)) return <FirstRun built={built} unbuilt={unbuilt} />;
  return (
    <div className={styles.page}>
      <Boundary region="overview: heading" line>
        <OverviewHeading services={built} unbuilt={unbuilt} />
      </Boundary>
      <Boundary region="overview: traffic" line>
        <TrafficPanel services={built} />
      </Boundary>
      <div
        className={styles.cards}
        data-one-row={rows === 1 || undefined}
        style={{ "--columns": columns, "--last-span": lastSpan, "--endpoint-lines": endpointLines(built) } as never}
      >
        {built.map((service) => (
          <Boundary key={service.id} region={`overview: ${service.id}`}>
            <ServiceCard service={service} />
          </Boundary>
        ))}
        <Boundary region="overview: worth knowing">
          <WorthKnowing services={services} />
        </Boundary>
      </div>
    </div>
  );
}
