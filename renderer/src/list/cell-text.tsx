import type { ReactNode } from "react";
import styles from "./cell-text.module.css";

interface CellTextProps {
  /** Secondary text; `quiet` is weaker than `soft`. */
  readonly tone?: "soft" | "quiet";
  readonly mono?: boolean;
  /** A quiet detail within other text. */
  readonly small?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

/** Text of a cell that is not the row's main text. */
export const CellText = ({ tone, mono = false, small = false, title, children }: CellTextProps) => (
  <span className={styles.cell} data-tone={tone} data-mono={mono || undefined} data-small={small || undefined} title={title}>
    {children}
  </span>
);
