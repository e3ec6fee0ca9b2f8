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
