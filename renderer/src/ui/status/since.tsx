import { useLayoutEffect, useState } from "react";
import type { ServiceStatus } from "../../../../contract/service.ts";
import { formatAgo, formatDuration, isoTime } from "../texts/time.ts";
import styles from "./since.module.css";

/** The time, renewed every `stepMs`. */
export function useNow(stepMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  // Also before a page is painted that was rendered earlier and hidden.
  useLayoutEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return now;
}

/** How long a service has run or a long start has taken, or how long ago it failed. */
export function Since({ status }: { status: ServiceStatus }) {
  const now = useNow();
  if (status.state !== "running" && status.state !== "failed" && !isLongStart(status)) return null;
  const ms = now - status.since;
  return (
    <time className={styles.since} title={isoTime(status.since)}>
      {status.state === "failed" ? formatAgo(ms) : formatDuration(ms)}
    </time>
  );
}

/** Its process has said what it does. */
const isLongStart = (status: ServiceStatus): status is Extract<ServiceStatus, { state: "starting" }> =>
  status.state === "starting" && status.doing !== undefined;
