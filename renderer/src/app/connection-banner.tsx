import { Button } from "@mantine/core";
import { useControl } from "../control/client-context.tsx";
import type { Connection } from "../control/transport.ts";
import { useConnection, useLoadFailure } from "../control/use-store.ts";
import { useNow } from "../ui/status/since.tsx";
import { StatusShape } from "../ui/status/status-shape.tsx";
import styles from "./connection-banner.module.css";

/** Visible while the shown data is missing or may be out of date. Only changes of state are announced, not the countdown. */
export function ConnectionBanner() {
  const connection = useConnection();
  const loadFailure = useLoadFailure();
  const client = useControl();
  const text = connectionText(connection) ?? (loadFailure && { what: "Not everything could be read", advice: loadFailure.message });
  return (
    <div className={text ? styles.banner : "visually-hidden"}>
      {text && <StatusShape shape="warning" />}
      <div role="status" className={styles.announced}>
        {text && (
          <>
            <strong>{text.what}</strong> <span className={styles.text}>{text.advice}</span>
          </>
        )}
      </div>
      {connection.state === "lost" && <Countdown retryAt={connection.retryAt} />}
      {(connection.state === "lost" || connection.state === "refused") && <Button onClick={client.retryNow}>Try now</Button>}
    </div>
  );
}

interface BannerText {
  readonly what: string;
  readonly advice: string;
}

function connectionText(connection: Connection): BannerText | undefined {
  switch (connection.state) {
    case "connecting":
    case "open":
      return undefined;
    case "lost":
      return {
        what: "Connection lost, reconnecting",
        advice: "What is shown may be out of date. If Backlot was started on another port, open the link that it printed.",
      };
    case "refused": {
      const advice = "Open the link that Backlot printed when it started: it ends with #token=…";
      return {
        what: connection.link === "expired" ? "The link of this page has expired" : "This page was opened without its link",
        advice,
      };
    }
    default:
      return connection satisfies never;
  }
}

/** Outside the live region: a screen reader would read it every second. */
function Countdown({ retryAt }: { retryAt: number }) {
  const seconds = Math.max(0, Math.ceil((retryAt - useNow(500)) / 1_000));
  return <span className={styles.wait}>{seconds > 0 ? `next try in ${seconds} s` : "trying"}</span>;
}
