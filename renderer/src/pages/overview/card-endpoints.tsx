import type { ServiceView } from "../../../../contract/service.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { addressOf, endpointsOf, isPickedAtStart } from "../../ui/texts/address.ts";
import styles from "./service-card.module.css";

const mostEndpoints = 3;

const shownEndpoints = (service: ServiceView) => endpointsOf(service).slice(0, mostEndpoints);

/** Lines that every card reserves, so that their sparklines have one baseline. */
export const endpointLines = (services: readonly ServiceView[]): number =>
  Math.max(0, ...services.map((service) => shownEndpoints(service).length));

/** Without the scheme; Copy takes the whole URL. */
export function CardEndpoints({ service }: { service: ServiceView }) {
  const running = service.status.state === "running";
  return (
    <ul className={styles.endpoints}>
      {shownEndpoints(service).map(({ label, url }) => (
        <li key={label + url} className={styles.endpoint}>
          <span className={styles.label}>{label}</span>
          <code
            className={running ? styles.address : `${styles.address} ${styles.planned}`}
            title={isPickedAtStart(url) ? "The system picks its port at start" : url}
          >
            {addressOf(url)}
          </code>
          {!isPickedAtStart(url) && <CopyButton text={url} what={url} />}
        </li>
      ))}
    </ul>
  );
}
