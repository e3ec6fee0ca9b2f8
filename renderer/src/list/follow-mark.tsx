import { UnstyledButton } from "@mantine/core";
import { IconArrowUp, IconPlayerPauseFilled } from "@tabler/icons-react";
import { formatCount } from "../ui/texts/quantity.ts";
import styles from "./follow-mark.module.css";

interface FollowMarkProps {
  readonly mode: "following" | "aimed" | "held" | "paused";
  /** Text for the number of rows that arrived since the list was held or paused; undefined if none. */
  readonly arrived: string | undefined;
  readonly title?: string | undefined;
  readonly onFollow: () => void;
}

/** Shows whether the list follows the newest rows, and returns to them. */
export function FollowMark({ mode, arrived, title, onFollow }: FollowMarkProps) {
  switch (mode) {
    case "following":
      return (
        <span className={styles.following}>
          <IconArrowUp size={14} stroke={1.5} aria-hidden="true" />
          Following newest
        </span>
      );
    case "aimed":
      return (
        <span className={styles.following} title="Rows arrive again when the pointer rests or leaves the list.">
          <IconArrowUp size={14} stroke={1.5} aria-hidden="true" />
          Following newest
          <Arrived text={arrived} />
        </span>
      );
    case "held":
      return (
        <UnstyledButton className={styles.follow} onClick={onFollow} title={title}>
          <IconArrowUp size={14} stroke={1.5} aria-hidden="true" />
          Follow newest
          <Arrived text={arrived} />
        </UnstyledButton>
      );
    case "paused":
      return <PausedMark arrived={arrived} />;
    default:
      return mode satisfies never;
  }
}

/** The list is paused. */
export const PausedMark = ({ arrived }: Pick<FollowMarkProps, "arrived">) => (
  <span className={styles.paused}>
    <IconPlayerPauseFilled size={12} aria-hidden="true" />
    paused
    <Arrived text={arrived} />
  </span>
);

const Arrived = ({ text }: { readonly text: string | undefined }) => text !== undefined && <span className={styles.arrived}>{text}</span>;

interface NewRowsProps {
  readonly count: number;
  /** There may be more than `count`. */
  readonly atLeast?: boolean;
  readonly onFollow: () => void;
}

/** Shown over the head of a held list: the number of new rows, as a button that shows them. */
export function NewRows({ count, atLeast = false, onFollow }: NewRowsProps) {
  return (
    <UnstyledButton className={styles.pill} onClick={onFollow}>
      <IconArrowUp size={13} stroke={2} aria-hidden="true" />
      {`${formatCount(count)}${atLeast ? "+" : ""} new`}
    </UnstyledButton>
  );
}
