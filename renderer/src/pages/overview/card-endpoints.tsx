import type { ServiceView } from "../../../../contract/service.ts";
import { addressOf, endpointsOf, isPickedAtStart } from "../../ui/address.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import styles from "./service-card.module.css";

const shownEndpoints = 3;

/** Without the scheme; Copy takes the whole URL. */
export function CardEndpoints({ service }: { service: ServiceView }) {
  const running = service.status.state === "running";
  return (
    <ul className={styles.endpoints}>
      {endpointsOf(service)
        .slice(0, shownEndpoints)
        .map(({ label, url }) => (
          <li key={label + url} className={styles.endpoint}>
            <span className={styles.label}>{label}</span>
            <code
              className={running ? styles.address : `${styles.address} ${styles.planned}`}
              title={isPickedAtStart(url) ? "Its port is picked at start" : url}
            >
              {addressOf(url)}
            </code>
            {!isPickedAtStart(url) && <CopyButton text={url} what={url} />}
          </li>
        ))}
    </ul>
  );
}
