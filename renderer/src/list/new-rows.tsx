import { UnstyledButton } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";
import { formatCount } from "../ui/quantity.ts";
import styles from "./new-rows.module.css";

interface NewRowsProps {
  readonly count: number;
  /** There may be more than `count`. */
  readonly atLeast?: boolean;
  readonly onFollow: () => void;
}

/** Over the head of a list that is held: how many rows came since, and the way to them. */
export function NewRows({ count, atLeast = false, onFollow }: NewRowsProps) {
  return (
    <UnstyledButton className={styles.pill} onClick={onFollow}>
      <IconArrowUp size={13} stroke={2} aria-hidden="true" />
      {`${formatCount(count)}${atLeast ? "+" : ""} new`}
    </UnstyledButton>
  );
}
