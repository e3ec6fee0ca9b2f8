import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Says what would appear here and how to make it appear; `children` is the way there: a button, a command. */
export function EmptyState({ title, text, children }: { title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {text && <p className={styles.text}>{text}</p>}
      {children && <div className={styles.way}>{children}</div>}
    </div>
  );
}

interface NoRowsProps {
  readonly text: string;
  readonly action?: string | undefined;
  readonly onAction?: (() => void) | undefined;
  /** More ways out. */
  readonly children?: ReactNode;
}

/** In place of rows, with the way out. */
export function NoRows({ text, action, onAction, children }: NoRowsProps) {
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
