import styles from "./nothing.module.css";

/** In the place of what has been asked for; seen only where the answer takes its time. */
export function Loading() {
  return (
    <p className={`${styles.nothing} ${styles.loading}`} role="status">
      Loading…
    </p>
  );
}
