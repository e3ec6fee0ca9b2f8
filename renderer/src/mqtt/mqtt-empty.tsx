import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop, IconSend } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type MqttViews, mqttActions } from "../../../contract/mqtt.ts";
import type { ServiceView } from "../../../contract/service.ts";
import { CommandLine } from "../components/command-line.tsx";
import { attempt } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";
import { brokerAddress } from "./broker-address.ts";
import { usualDemo } from "./demo-dialog.tsx";
import { mosquittoPub } from "./mqtt-commands.ts";
import styles from "./mqtt-empty.module.css";
import { firstDraft } from "./publish-draft.ts";

const whatAppears = [
  ["topics", "as a tree, with counts and last values"],
  ["history", "of each topic: text, JSON, hex, what changed, and numbers as a plot"],
  ["delivery", "who received a message, and who acknowledged it when"],
  ["clients", "with subscriptions, queue, keep alive and will"],
] as const;

interface MqttEmptyProps {
  readonly service: ServiceView | undefined;
  readonly demo: MqttViews["demo"] | undefined;
  readonly onPublish: () => void;
}

/** What would appear here, and the ways to make it appear. */
export function MqttEmpty({ service, demo, onPublish }: MqttEmptyProps) {
  const client = useControl();
  const address = brokerAddress(service);
  const running = service?.status.state === "running";
  const isDemo = demo?.running ?? false;
  return (
    <div className={styles.empty}>
      <ol className={styles.steps}>
        <Step title={running ? "Listening" : "Start"}>
          {running ? (
            <>
              on <code>{`${address.host}:${address.port}`}</code>. No message has come yet.
            </>
          ) : (
            "the broker. It answers on this computer only, unless you open it."
          )}
        </Step>
        <Step title="Connect">
          your client to <code>{`mqtt://${address.host}:${address.port}`}</code>, 3.1.1 or 5.0, or let the demo publish.
        </Step>
        <Step title="Watch">topics grow here, each message with its publisher and its receivers.</Step>
      </ol>
      <div className={styles.ways}>
        {running ? (
          <>
            <Button
              size="md"
              variant={isDemo ? "default" : "filled"}
              leftSection={isDemo ? <IconPlayerStop size={15} stroke={1.5} /> : <IconPlayerPlay size={15} stroke={1.5} />}
              onClick={() =>
                void attempt(
                  isDemo
                    ? client.action(mqttActions, "mqtt", "sample.stop")
                    : client.action(mqttActions, "mqtt", "sample.start", usualDemo),
                )
              }
            >
              {isDemo ? "Stop the demo publisher" : "Start the demo publisher"}
            </Button>
            <Button size="md" leftSection={<IconSend size={15} stroke={1.5} />} onClick={onPublish}>
              Publish a message…
            </Button>
          </>
        ) : (
          <Button
            size="md"
            variant="filled"
            loading={service?.status.state === "starting"}
            leftSection={<IconPlayerPlay size={15} stroke={1.5} />}
            onClick={() => void attempt(client.call("service.start", { id: "mqtt" }))}
          >
            Start MQTT
          </Button>
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
        <CommandLine command={mosquittoPub(firstDraft, address)} />
      </div>
    </div>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <li>
      <span>
        <b>{title}</b> {children}
      </span>
    </li>
  );
}
