import type { ReactNode } from "react";
import styles from "./text-block.module.css";

/** Lines of protocol text or code to read and copy; what is too long wraps, what is too high scrolls. */
export const TextBlock = ({ children }: { readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
  <pre className={styles.block} tabIndex={0}>
    {children}
  </pre>
);
