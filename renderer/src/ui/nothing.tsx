import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./nothing.module.css";

interface NothingProps {
  readonly text: string;
  readonly action?: string | undefined;
  readonly onAction?: (() => void) | undefined;
  /** More ways out. */
  readonly children?: ReactNode;
}

/** In place of rows, with the way out. */
export function Nothing({ text, action, onAction, children }: NothingProps) {
  return (
    <div className={styles.nothing}>
      {text}
      {(children || onAction) && (
        <span className={styles.ways}>
          {children}
          {action && onAction && <Button onClick={onAction}>{action}</Button>}
        </span>
      )}
    </div>
  );
}

/** In the place of what has been asked for; seen only where the answer takes its time. */
export function Loading() {
  return (
    <p className={`${styles.nothing} ${styles.loading}`} role="status">
      Loading…
    </p>
  );
}
