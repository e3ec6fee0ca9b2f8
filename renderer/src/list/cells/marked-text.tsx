import type { ReactNode } from "react";
import styles from "./marked-text.module.css";

interface MarkedTextProps {
  /** Of the text, which may be cut. */
  readonly title?: string | undefined;
  /** Such as chips; null for none. */
  readonly marks: ReactNode;
  readonly children: ReactNode;
}

/** A text in one line with marks behind it: the text shrinks first, so that what is said about it can be read. */
export const MarkedText = ({ title, marks, children }: MarkedTextProps) => (
  <span className={styles.line}>
    <span className={styles.text} title={title}>
      {children}
    </span>
    {marks}
  </span>
);
