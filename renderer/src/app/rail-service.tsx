import { isSilent, type ServiceView } from "../../../contract/service.ts";
import { useRate } from "../control/use-store.ts";
import { StatusShape, shapeOf } from "../ui/status/status-shape.tsx";
import { portText } from "../ui/texts/address.ts";
import { formatRate } from "../ui/texts/quantity.ts";
import styles from "./rail.module.css";
import { hashOf, type Route, returnTo } from "./route.ts";

/** More would displace the rate; the page and the tooltip show all of them. */
const mostPorts = 2;

/** `route` is that of the page that is shown. */
export function RailService({ service, route }: { service: ServiceView; route: Route }) {
  const { id, title, built, status, ports } = service;
  const isShown = route.page === "service" && route.id === id;
  return (
    <a
      className={styles.service}
      href={hashOf(returnTo(id, route))}
      aria-current={isShown ? "page" : undefined}
      data-unbuilt={!built || undefined}
    >
      <StatusShape shape={shapeOf(status)} className={styles.shape} />
      <span className={styles.name}>{title}</span>
      {built ? <State service={service} /> : <span className={styles.figure}>not built yet</span>}
      {built && (
        <span className={styles.ports} title={[...new Set(ports.map(portText))].join(", ")}>
          {ports.slice(0, mostPorts).map(portText).join(", ")}
        </span>
      )}
    </a>
  );
}

function State({ service }: { service: ServiceView }) {
  const rate = useRate(service.id);
  const { state } = service.status;
  switch (state) {
    case "running":
      if (isSilent(service.status)) return <span className={`${styles.figure} ${styles.warned}`}>not answering</span>;
      return (
        <span className={service.restartNeeded ? `${styles.figure} ${styles.warned}` : styles.figure}>
          <span className="visually-hidden">running, </span>
          {service.restartNeeded ? "restart needed" : rate ? `${formatRate(rate.itemsPerSecond)} ${service.rateUnit}` : "running"}
        </span>
      );
    case "failed":
      return <span className={`${styles.figure} ${styles.failed}`}>failed</span>;
    case "stopped":
      return <span className={`${styles.figure} ${styles.stopped}`}>stopped</span>;
    case "starting":
    case "stopping":
      return <span className={styles.figure}>{state}</span>;
    default:
      return state satisfies never;
  }
}
