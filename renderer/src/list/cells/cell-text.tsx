import type { ReactNode } from "react";
import styles from "./cell-text.module.css";

interface CellTextProps {
  /** Secondary text, of which `quiet` is weaker than `soft`, or what needs attention. */
  readonly tone?: "soft" | "quiet" | "warn" | undefined;
  readonly mono?: boolean;
  /** With `mono`: the word that names the row, such as a method. */
  readonly strong?: boolean;
  /** A quiet detail within other text. */
  readonly small?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

/** Text of a cell, unless it is a plain text. */
export const CellText = ({ tone, mono = false, strong = false, small = false, title, children }: CellTextProps) => (
  <span
    className={styles.cell}
    data-tone={tone}
    data-mono={mono || undefined}
    data-strong={strong || undefined}
    data-small={small || undefined}
    title={title}
  >
    {children}
  </span>
);
