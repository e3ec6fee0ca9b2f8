import styles from "./mark.module.css";

/** A shop front held up by one prop. */
export function Mark() {
  return (
    <svg viewBox="0 0 20 16" width="20" height="16" aria-hidden="true" className={styles.mark}>
      <path className={styles.prop} d="m13 4 6 12m-6-5h3.300" />
      <path fillRule="evenodd" d="M0 0h14v3h-1v13H6v-6H3v6H1V3H0Zm8 10v3h3v-3Z" />
    </svg>
  );
}
