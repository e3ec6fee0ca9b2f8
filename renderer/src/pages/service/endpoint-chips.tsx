import { Popover, UnstyledButton } from "@mantine/core";
import { type RefObject, useEffect, useRef, useState } from "react";
import type { Endpoint } from "../../../../contract/service.ts";
import { AddressText } from "../../ui/address-text.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { addressOf, isPickedAtStart, urlText } from "../../ui/texts/address.ts";
import styles from "./endpoint-chips.module.css";

interface EndpointChipsProps {
  readonly className: string | undefined;
  /** Of the service: the name of its first protocol is not repeated beside it. */
  readonly title: string;
  readonly endpoints: readonly Endpoint[];
  /** The service listens there now; otherwise it will after its start. */
  readonly running: boolean;
}

/** The endpoints that fit in one line; if some do not, a button lists all. */
export function EndpointChips({ className = "", title, endpoints, running }: EndpointChipsProps) {
  const line = useRef<HTMLDivElement>(null);
  const { hidden, shownPx } = useFittingChips(line, endpoints);
  return (
    <div className={`${styles.endpoints} ${className}`}>
      <div className={styles.line} data-more={hidden > 0 || undefined} ref={line}>
        {endpoints.map((endpoint, index) => (
          <EndpointChip
            key={endpoint.label + endpoint.url}
            endpoint={endpoint}
            running={running}
            inert={index >= endpoints.length - hidden}
            label={endpoints.length > 1 && (index > 0 || endpoint.label !== title)}
            // The label names the protocol, as on the cards.
            text={endpoints.length > 1 ? addressOf(endpoint.url) : urlText(endpoint.url)}
          />
        ))}
      </div>
      {hidden > 0 && (
        <Popover position="bottom-end" shadow="md" withinPortal={false}>
          <Popover.Target>
            <UnstyledButton className={styles.more} style={{ left: shownPx }} aria-label={`+${hidden}: all ${endpoints.length} addresses`}>
              {`+${hidden}`}
            </UnstyledButton>
          </Popover.Target>
          <Popover.Dropdown className={styles.all} aria-label="Addresses">
            {endpoints.map((endpoint) => (
              <EndpointChip key={endpoint.label + endpoint.url} endpoint={endpoint} running={running} label text={urlText(endpoint.url)} />
            ))}
          </Popover.Dropdown>
        </Popover>
      )}
    </div>
  );
}

interface EndpointChipProps extends Pick<EndpointChipsProps, "running"> {
  readonly endpoint: Endpoint;
  /** It is hidden. */
  readonly inert?: boolean;
  readonly label: boolean;
  readonly text: string;
}

function EndpointChip({ endpoint, running, inert = false, label, text }: EndpointChipProps) {
  const { url } = endpoint;
  return (
    <span className={styles.chip} inert={inert}>
      {label && <span className={styles.label}>{endpoint.label}</span>}
      <AddressText
        className={running ? styles.address : `${styles.address} ${styles.planned}`}
        text={text}
        title={running ? url : `${urlText(url)} once started`}
      />
      {!isPickedAtStart(url) && <CopyButton text={url} what={url} />}
    </span>
  );
}

/** Chips that do not fit wrap below the line, where they are clipped. */
function useFittingChips(line: RefObject<HTMLDivElement | null>, endpoints: readonly Endpoint[]) {
  const [fitting, setFitting] = useState({ hidden: 0, shownPx: 0 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other endpoints are other chips to measure.
  useEffect(() => {
    const element = line.current;
    if (!element) return;
    const measure = () => {
      const chips = [...element.children] as HTMLElement[];
      const shown = chips.filter((chip) => chip.offsetTop === chips[0]?.offsetTop);
      const last = shown.at(-1);
      setFitting({ hidden: chips.length - shown.length, shownPx: last ? last.offsetLeft + last.offsetWidth : 0 });
    };
    measure();
    const resize = new ResizeObserver(measure);
    resize.observe(element);
    return () => resize.disconnect();
  }, [line, endpoints]);
  return fitting;
}
