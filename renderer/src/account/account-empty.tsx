import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import type { ServiceView } from "../../../contract/service.ts";
import { CommandLine } from "../components/command-line.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { attempt } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import styles from "../events/events-empty.module.css";
import { Step } from "../http/live-empty.tsx";
import { accountOrigin, exampleCommand, sampleLogin } from "./account-origin.ts";

const whatAppears = [
  ["call", "method, path and status, each with its headers, body and time"],
  ["who", "the user of the token or of Basic, also where the call was refused"],
  ["why not", "wrong password, token expired or revoked, too many attempts, unknown field"],
] as const;

interface AccountEmptyProps {
  readonly service: ServiceView | undefined;
  readonly sampling: boolean;
}

/** What would appear here, and the ways to make it appear. */
export function AccountEmpty({ service, sampling }: AccountEmptyProps) {
  const client = useControl();
  const origin = accountOrigin(service);
  const running = service?.status.state === "running";
  const toggleSample = () =>
    attempt(client.call("service.action", { id: "account", action: sampling ? "sample.stop" : "sample.start", params: {} }));
  return (
    <div className={styles.empty}>
      <ol className={styles.steps}>
        <Step title={running ? "Listening" : "Start"}>
          {running ? (
            <>
              on <code>{origin.replace(/^https?:\/\//, "")}</code>, with and without <code>/api</code>. No call has come yet.
            </>
          ) : (
            "the service. It answers on this computer only, unless you open it."
          )}
        </Step>
        <Step title="Point">
          your client at <code>{origin}</code> and log in as <code>{sampleLogin.username}</code>, password{" "}
          <code>{sampleLogin.password}</code>.
        </Step>
        <Step title="Watch">each call appear here, with who made it and why it was refused.</Step>
      </ol>
      <div className={styles.ways}>
        {running ? (
          <Button
            size="md"
            variant={sampling ? "default" : "filled"}
            leftSection={sampling ? <IconPlayerStop size={15} stroke={1.5} /> : <IconPlayerPlay size={15} stroke={1.5} />}
            onClick={() => void toggleSample()}
          >
            {sampling ? "Stop sample traffic" : "Send sample traffic"}
          </Button>
        ) : (
          <StartAccount service={service} title="Start Account" />
        )}
      </div>
      <dl className={styles.appears}>
        {whatAppears.map(([name, what]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className={styles.command}>
        <CommandLine command={exampleCommand(origin)} />
      </div>
    </div>
  );
}

/** `what` completes "Start the service to see …". */
export function AccountStopped({ service, what }: { readonly service: ServiceView | undefined; readonly what: string }) {
  return (
    <div className={styles.empty}>
      <EmptyState
        title="Account is not running"
        text={`What it keeps is kept while it is stopped, and the service itself reads it: start it to see ${what}.`}
      >
        <StartAccount service={service} title="Start Account" />
      </EmptyState>
    </div>
  );
}

function StartAccount({ service, title }: { readonly service: ServiceView | undefined; readonly title: string }) {
  const client = useControl();
  return (
    <Button
      size="md"
      variant="filled"
      loading={service?.status.state === "starting"}
      leftSection={<IconPlayerPlay size={15} stroke={1.5} />}
      onClick={() => void attempt(client.call("service.start", { id: "account" }))}
    >
      {title}
    </Button>
  );
}
