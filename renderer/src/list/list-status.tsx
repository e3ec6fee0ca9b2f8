import { UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./list-status.module.css";

interface StatusProps {
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

/** One of the facts in a list's status line; it is the first to shrink. */
export function Fact({ title, children }: StatusProps) {
  return (
    <span className={styles.fact} title={title}>
      {children}
    </span>
  );
}

/** Rows that the list does not have; never shortened. */
export function LeftOut({ title, children }: StatusProps) {
  return (
    <span className={styles.leftOut} title={title}>
      {children}
    </span>
  );
}

/** At the end of a status line: the start and the totals. Hidden if the page is narrow. */
export function SinceStart({ title, children }: StatusProps) {
  return (
    <span className={styles.since} title={title}>
      {children}
    </span>
  );
}

interface StatusLinkProps {
  readonly disabled?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** An action for a fact. */
export function StatusLink({ disabled = false, onClick, children }: StatusLinkProps) {
  return (
    <UnstyledButton className={styles.link} disabled={disabled} onClick={onClick}>
      {children}
    </UnstyledButton>
  );
}
