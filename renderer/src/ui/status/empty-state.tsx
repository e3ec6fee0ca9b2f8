import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Says what will appear here and how to produce it; `children` are buttons or commands for that. */
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
  /** Further actions. */
  readonly children?: ReactNode;
}

/** Shown instead of rows, with an action such as "Show all". */
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
