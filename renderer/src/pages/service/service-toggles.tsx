import { UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import type { ServiceId, ServiceView } from "../../../../contract/service.ts";
import { seriesToken } from "../../services/registry.ts";
import styles from "./service-toggles.module.css";

interface ServiceTogglesProps {
  readonly services: readonly ServiceView[];
  readonly hidden: readonly ServiceId[];
  readonly onHidden: (hidden: readonly ServiceId[]) => void;
}

/** A button for each service with its colour: what is hidden is left out of the list or plot below. */
export function ServiceToggles({ services, hidden, onHidden }: ServiceTogglesProps) {
  return services.map(({ id, title }) => (
    <UnstyledButton
      key={id}
      className={styles.toggle}
      aria-pressed={!hidden.includes(id)}
      onClick={() => onHidden(hidden.includes(id) ? hidden.filter((other) => other !== id) : [...hidden, id])}
    >
      <Swatch id={id} />
      {title}
    </UnstyledButton>
  ));
}

/** A service's title with its colour. */
export function ServiceName({ id, children }: { readonly id: ServiceId; readonly children: ReactNode }) {
  return (
    <span className={styles.name}>
      <Swatch id={id} />
      {children}
    </span>
  );
}

function Swatch({ id }: { readonly id: ServiceId }) {
  return <span className={styles.swatch} style={{ "--series": `var(${seriesToken(id)})` } as never} />;
}
