import { IconCheck, IconMinus, IconPointFilled, IconX } from "@tabler/icons-react";
import styles from "./outcome-mark.module.css";

const icons: Readonly<Record<string, typeof IconCheck>> = { accepted: IconCheck, rejected: IconX, ignored: IconMinus };

/** Its shape and its word; what an older file holds gets a dot. */
export function OutcomeMark({ outcome }: { readonly outcome: string }) {
  const Icon = icons[outcome] ?? IconPointFilled;
  return (
    <span className={styles.mark} data-outcome={outcome}>
      <Icon size={14} stroke={1.75} aria-hidden="true" />
      {outcome}
    </span>
  );
}
