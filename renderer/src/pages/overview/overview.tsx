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

/** Columns for so many cards: as many rows of the same length as can be had. */
export const columnsFor = (cards: number): number => (cards <= 4 ? cards : cards <= 6 ? 3 : 4);

export function Overview() {
  const services = useServices();
  const built = services.filter((service) => service.built);
  const unbuilt = services.filter((service) => !service.built);
  const columns = columnsFor(built.length + 1);
  if (services.length === 0) return <Loading what="the services" />;
  if (built.every(neverStarted)) return <FirstRun built={built} unbuilt={unbuilt} />;
  return (
    <div className={styles.page}>
      <Boundary region="overview: heading" line>
        <OverviewHeading services={built} />
      </Boundary>
      <Boundary region="overview: traffic" line>
        <TrafficPanel services={built} />
      </Boundary>
      <div
        className={styles.cards}
        data-one-row={built.length < columns || undefined}
        style={{ "--columns": columns, "--endpoint-lines": endpointLines(built) } as never}
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
      {unbuilt.length > 0 && <NotBuiltLine services={unbuilt} />}
    </div>
  );
}

export function NotBuiltLine({ services }: { services: readonly ServiceView[] }) {
  return (
    <p className={styles.unbuilt} style={{ margin: 0 }}>
      <strong>Not built yet</strong>
      {services.map((service) => service.title).join(" · ")}
    </p>
  );
}
