import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { httpActions } from "../../../contract/http.ts";
import type { ServiceView } from "../../../contract/service.ts";
import { CommandLine } from "../components/command-line.tsx";
import { attempt } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { isPickedAtStart } from "../format/address.ts";
import { formatCountOf } from "../format/quantity.ts";
import { httpOrigin } from "./endpoint.ts";
import styles from "./live-empty.module.css";
import { useHttpViews } from "./use-http-views.ts";

/** What would appear here, and two ways to make it appear. */
export function LiveEmpty({ service }: { readonly service: ServiceView | undefined }) {
  const client = useControl();
  const { sample } = useHttpViews();
  const origin = httpOrigin(service);
  const running = service?.status.state === "running";
  return (
    <div className={styles.empty}>
      <ol className={styles.steps}>
        <Step title={running ? "Listening" : "Start"}>
          {running
            ? `on ${origin.replace(/^https?:\/\//, "")}. Nothing to show yet.`
            : "the service. It answers on this computer only, unless you open it."}
        </Step>
        <Step title="Point">your app at {isPickedAtStart(origin) ? "its address" : origin}, or let the sample traffic play.</Step>
        <Step title="Watch">each request appear here, with its answer, headers, body and time.</Step>
      </ol>
      <div className={styles.ways}>
        {running ? (
          <Button
            size="md"
            variant={sample.running ? "default" : "filled"}
            leftSection={sample.running ? <IconPlayerStop size={15} /> : <IconPlayerPlay size={15} />}
            onClick={() => void attempt(client.action(httpActions, "http", sample.running ? "sample.stop" : "sample.start"))}
          >
            {sample.running ? "Stop sample traffic" : "Send sample traffic"}
          </Button>
        ) : (
          <Button
            size="md"
            variant="filled"
            loading={service?.status.state === "starting"}
            leftSection={<IconPlayerPlay size={15} />}
            onClick={() => void attempt(client.call("service.start", { id: "http" }))}
          >
            Start HTTP
          </Button>
        )}
        {!isPickedAtStart(origin) && <CommandLine command={`curl ${origin}/api/data`} />}
      </div>
    </div>
  );
}

/** A line of an empty state. */
export function Step({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <li>
      <span>
        <b>{title}</b> {children}
      </span>
    </li>
  );
}

export function NothingMatches({ kept, onAll }: { readonly kept: number; readonly onAll: () => void }) {
  return (
    <div className={styles.none}>
      {`None of ${formatCountOf(kept, "request")} matches the filter.`}
      <Button onClick={onAll}>Show all</Button>
    </div>
  );
}
