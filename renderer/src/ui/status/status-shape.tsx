import type { ReactNode } from "react";
import { isSilent, type ServiceStatus } from "../../../../contract/service.ts";
import { Chip, type ElementProps } from "../panel.tsx";
import { capitalized } from "../texts/quantity.ts";
import styles from "./status-shape.module.css";

/** Disc, ring, diamond, half disc, dot: a shape for each meaning, so that colour is never alone. */
export type Shape = "running" | "stopped" | "failed" | "pending" | "warning" | "note";

function outline(shape: Shape) {
  switch (shape) {
    case "running":
      return <circle cx="4" cy="4" r="4" fill="currentColor" />;
    case "stopped":
      return <circle cx="4" cy="4" r="3.1" fill="none" stroke="currentColor" strokeWidth="1.6" />;
    case "failed":
      return <path d="M4-.6 8.6 4 4 8.6-.6 4Z" fill="currentColor" />;
    case "pending":
    case "warning":
      return (
        <>
          <circle cx="4" cy="4" r="3.2" fill="none" stroke="currentColor" strokeWidth="1.4" />
          <path d="M4 .8a3.2 3.2 0 0 1 0 6.4Z" fill="currentColor" />
        </>
      );
    case "note":
      return <circle cx="4" cy="4" r="2" fill="currentColor" />;
    default:
      return shape satisfies never;
  }
}

/** Decorative: the word beside it has the same meaning. */
export function StatusShape({ shape, className }: { shape: Shape; className?: string }) {
  return (
    <svg viewBox="0 0 8 8" width="8" height="8" aria-hidden="true" className={`${styles.shape} ${styles[shape]} ${className ?? ""}`}>
      {outline(shape)}
    </svg>
  );
}

export function shapeOf(status: ServiceStatus): Shape {
  switch (status.state) {
    case "running":
      return isSilent(status) ? "warning" : "running";
    case "stopped":
    case "failed":
      return status.state;
    case "starting":
    case "stopping":
      return "pending";
    default:
      return status satisfies never;
  }
}

export const stateWord = (status: ServiceStatus): string => (isSilent(status) ? "Not answering" : capitalized(status.state));

/** Shape and words together. */
export function ShapeLabel({ shape, children }: { readonly shape: Shape; readonly children: string }) {
  return (
    <span className={styles.label}>
      <StatusShape shape={shape} />
      <span className={shape === "stopped" ? styles.quiet : styles[shape]}>{children}</span>
    </span>
  );
}

export const StateLabel = ({ status }: { readonly status: ServiceStatus }) => (
  <ShapeLabel shape={shapeOf(status)}>{stateWord(status)}</ShapeLabel>
);

/** A running service has another configuration than the one that applies now, as after a switch of the profile. */
export const RestartNeeded = (props: ElementProps & { readonly tall?: boolean }) => (
  <Chip {...props} tone="warn" title="It runs with the configuration that it was started with. Restart it to apply the current one.">
    Restart needed
  </Chip>
);

interface MarkProps {
  /** Undefined is the colour of the text. */
  readonly tone: "ok" | "warn" | "bad" | "idle" | undefined;
  readonly icon: ReactNode;
  readonly title?: string | undefined;
  readonly children: string;
}

/** A state in a table: an icon or shape and its word, in the colour of its meaning. */
export const Mark = ({ tone, icon, title, children }: MarkProps) => (
  <span className={styles.mark} data-tone={tone} title={title}>
    {icon}
    {children}
  </span>
);
