import { Button } from "@mantine/core";
import { useControl } from "../control/client-context.tsx";
import { useConnection } from "../control/use-store.ts";
import { StatusShape } from "../ui/status-shape.tsx";
import { useNow } from "../ui/use-now.ts";
import styles from "./connection-banner.module.css";

/** Visible while what the window shows may be out of date. */
export function ConnectionBanner() {
  const connection = useConnection();
  return connection.state === "lost" ? <Lost retryAt={connection.retryAt} attempt={connection.attempt} /> : null;
}

function Lost({ retryAt, attempt }: { retryAt: number; attempt: number }) {
  const client = useControl();
  const seconds = Math.max(0, Math.ceil((retryAt - useNow(500)) / 1_000));
  return (
    <div className={styles.banner} role="status">
      <StatusShape shape="warning" />
      <strong>Connection lost, reconnecting</strong>
      <span className={styles.text}>
        {attempt > 3
          ? "What is shown may be out of date. If Backlot was started again, open the address that it printed."
          : "What is shown may be out of date."}
      </span>
      <span className={styles.wait}>{seconds > 0 ? `next try in ${seconds} s` : "trying"}</span>
      <Button onClick={client.retryNow}>Try now</Button>
    </div>
  );
}
