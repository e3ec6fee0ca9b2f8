import type { ReactNode } from "react";
import { Caption, SectionTitle } from "../../ui/panel.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import styles from "./try-section.module.css";

/** A part of the form of a Try tab; `label` names it for screen readers. */
export function TrySection({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={label}>
      {children}
    </section>
  );
}

interface TrySectionHeadProps {
  readonly title: string;
  /** Beside the title: the state or the result of the section. */
  readonly state?: ReactNode;
  /** A change of the state is announced. */
  readonly isLive?: boolean;
  /** Actions. */
  readonly children?: ReactNode;
}

export function TrySectionHead({ title, state, isLive = false, children }: TrySectionHeadProps) {
  return (
    <div className={styles.head}>
      <SectionTitle>{title}</SectionTitle>
      <Caption grow className={styles.state} aria-live={isLive ? "polite" : undefined}>
        {state}
      </Caption>
      {children}
    </div>
  );
}

/** Why something cannot be sent, or failed. */
export function TryProblem({ title, children }: { readonly title?: string; readonly children: ReactNode }) {
  return (
    <span className={styles.problem} title={title}>
      <StatusShape shape="failed" /> {children}
    </span>
  );
}
