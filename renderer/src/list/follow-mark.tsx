import { UnstyledButton } from "@mantine/core";
import { IconArrowUp, IconPlayerPauseFilled } from "@tabler/icons-react";
import { formatCount } from "../ui/texts/quantity.ts";
import styles from "./list-page.module.css";

interface FollowMarkProps {
  readonly mode: "following" | "held" | "paused";
  /** What came since the list was held or paused, in words; nothing where nothing did. */
  readonly arrived: string | undefined;
  readonly title?: string | undefined;
  readonly onFollow: () => void;
}

/** Whether a list follows the newest, and the way back to them. */
export function FollowMark({ mode, arrived, title, onFollow }: FollowMarkProps) {
  const since = arrived !== undefined && <span className={styles.arrived}>{arrived}</span>;
  switch (mode) {
    case "following":
      return (
        <span className={styles.following}>
          <IconArrowUp size={14} stroke={1.5} aria-hidden="true" />
          Following newest
        </span>
      );
    case "held":
      return (
        <UnstyledButton className={styles.follow} onClick={onFollow} title={title}>
          <IconArrowUp size={14} stroke={1.5} aria-hidden="true" />
          Follow newest
          {since}
        </UnstyledButton>
      );
    case "paused":
      return (
        <span className={styles.paused}>
          <IconPlayerPauseFilled size={12} aria-hidden="true" />
          paused
          {since}
        </span>
      );
    default:
      return mode satisfies never;
  }
}

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
