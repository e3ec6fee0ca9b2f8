import type { ServiceStatus } from "../../../contract/service.ts";
import { formatAgo, formatDuration } from "./duration.ts";
import styles from "./since.module.css";
import { isoTime } from "./time.ts";
import { useNow } from "./use-now.ts";

/** How long a service has run, or how long ago it failed. */
export function Since({ status }: { status: ServiceStatus }) {
  const now = useNow();
  if (status.state !== "running" && status.state !== "failed") return null;
  const ms = now - status.since;
  return (
    <time className={styles.since} title={isoTime(status.since)}>
      {status.state === "running" ? formatDuration(ms) : formatAgo(ms)}
    </time>
  );
}
