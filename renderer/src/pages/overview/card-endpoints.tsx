import type { ServiceView } from "../../../../contract/service.ts";
import { hashOf, servicePage } from "../../app/route.ts";
import { AddressText } from "../../ui/address-text.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { addressOf, endpointsOf, isPickedAtStart } from "../../ui/texts/address.ts";
import styles from "./service-card.module.css";

const mostEndpoints = 2;

const shownEndpoints = (service: ServiceView) => endpointsOf(service).slice(0, mostEndpoints);

/** Lines reserved on every card, so that the sparklines are aligned. */
export const endpointLines = (services: readonly ServiceView[]): number =>
  Math.max(0, ...services.map((service) => shownEndpoints(service).length));

/** Without the scheme; Copy takes the whole URL. */
export function CardEndpoints({ service }: { service: ServiceView }) {
  const running = service.status.state === "running";
  const others = endpointsOf(service).slice(mostEndpoints);
  return (
    <ul className={styles.endpoints}>
      {shownEndpoints(service).map(({ label, url }, place) => (
        <li key={label + url} className={styles.endpoint}>
          <span className={styles.label} title={label}>
            {label}
          </span>
          <AddressText
            className={running ? styles.address : `${styles.address} ${styles.planned}`}
            text={addressOf(url)}
            title={isPickedAtStart(url) ? "The system picks its port at start" : url}
          />
          {place === mostEndpoints - 1 && others.length > 0 && (
            <a
              className={styles.others}
              href={hashOf(servicePage(service.id))}
              title={others.map((other) => `${other.label} ${other.url}`).join("\n")}
            >
              {`+${others.length}`}
              <span className="visually-hidden">{` more addresses of ${service.title}`}</span>
            </a>
          )}
          {!isPickedAtStart(url) && <CopyButton text={url} what={url} />}
        </li>
      ))}
    </ul>
  );
}
