import { UnstyledButton } from "@mantine/core";
import { IconArrowUp, IconPlayerPause } from "@tabler/icons-react";
import { formatCount } from "../../ui/quantity.ts";
import styles from "./timeline.module.css";
import type { TimelineView } from "./timeline-rows.ts";

interface TimelineStatusProps {
  readonly view: TimelineView;
  readonly shown: number;
  onNewest(): void;
}

/** What of the traffic is on screen, and what is not. */
export function TimelineStatus({ view: { mode, arrived, kept, allKept, skipped }, shown, onNewest }: TimelineStatusProps) {
  return (
    <div className={styles.status}>
      {mode === "following" && (
        <span className={styles.follow}>
          <IconArrowUp size={14} stroke={1.5} />
          Following newest
        </span>
      )}
      {mode === "scrolled" && (
        <UnstyledButton className={styles.follow} onClick={onNewest}>
          <IconArrowUp size={14} stroke={1.5} />
          {`Back to the newest, ${formatCount(arrived)} arrived since`}
        </UnstyledButton>
      )}
      {mode === "paused" && (
        <>
          <span className={styles.warn}>
            <IconPlayerPause size={14} stroke={1.5} />
            paused
          </span>
          <span>{`${formatCount(arrived)} arrived since${allKept ? ", all kept" : ""}`}</span>
        </>
      )}
      <span>{`· showing ${formatCount(shown)} of ${formatCount(Math.max(kept, shown))}`}</span>
      {skipped > 0 && <span>{`· ${formatCount(skipped)} came too fast to show${allKept ? ", kept on their pages" : ""}`}</span>}
    </div>
  );
}
