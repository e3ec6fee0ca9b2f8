import { Button, SegmentedControl, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReceived, MqttTryState } from "../../../../../contract/services/mqtt-try.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useRefreshed } from "../../../control/use-refreshed.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { attempt } from "../../../ui/notify.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/quantity.ts";
import { clockTime, isoTime } from "../../../ui/time.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { fromBase64 } from "../../../viewer/base64.ts";
import { lineText, type PayloadView, payloadLines, payloadViews, payloadViewTitles } from "../../../viewer/payload-lines.ts";
import { previewLine } from "../../../viewer/payload-preview.ts";
import styles from "../../try/try-page.module.css";
import { PropertyPairs, propertiesOf } from "../history/property-list.tsx";
import { notifyUnlessGone } from "../tree/use-topic-branches.ts";
import own from "./mqtt-try.module.css";

const shownMessages = 200;
const none: readonly MqttReceived[] = [];

interface TryReceivedProps {
  readonly state: MqttTryState | undefined;
  readonly running: boolean;
}

/** What the client was sent, as it came: newest first, each opens. */
export function TryReceived({ state, running }: TryReceivedProps) {
  const client = useControl();
  const messages = useReceived(running ? (state?.received ?? 0) : 0);
  const [view, setView] = useRemembered<PayloadView>("mqtt.try-view", "json");
  const [opened, setOpened] = useState<number>();
  const received = state?.received ?? 0;
  return (
    <>
      <div className={own.receivedHead}>
        <h2 className={styles.title}>Received</h2>
        <span className={own.count}>
          {received > messages.length
            ? `newest ${formatCount(messages.length)} of ${formatCount(received)}`
            : formatCountOf(received, "message")}
        </span>
        <SegmentedControl
          aria-label="Show payloads as"
          data={payloadViews.map((value) => ({ value, label: payloadViewTitles[value] }))}
          value={view}
          onChange={(value) => setView(value as PayloadView)}
        />
        <Button disabled={received === 0} onClick={() => void attempt(client.action(mqttActions, "mqtt", "try.clear"))}>
          Clear
        </Button>
      </div>
      {messages.length === 0 ? (
        <p className={styles.note}>{nothingText(state, running)}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
        <ol className={own.messages} tabIndex={0} aria-label="Received messages, newest first">
          {messages.map((message) => (
            <Received
              key={message.place}
              message={message}
              view={view}
              isOpen={message.place === opened}
              onToggle={() => setOpened(message.place === opened ? undefined : message.place)}
            />
          ))}
        </ol>
      )}
    </>
  );
}

/** The newest messages that the client of the Try tab received, newest first. */
function useReceived(received: number): readonly MqttReceived[] {
  const client = useControl();
  const page = useRefreshed({
    key: received === 0 ? undefined : "received",
    version: received,
    read: () => client.action(mqttActions, "mqtt", "try.received", { limit: shownMessages }),
    onFailure: notifyUnlessGone,
  });
  return received === 0 ? none : (page?.answer.messages ?? none);
}

function nothingText(state: MqttTryState | undefined, running: boolean): string {
  if (!running) return "Start the service to publish and subscribe.";
  if ((state?.subscriptions.length ?? 0) === 0) return "Subscribe to a filter: what the broker sends to this client appears here.";
  return state?.state === "connected"
    ? "Nothing came yet. Publish on a topic that the filter matches."
    : "The client is not connected: the broker keeps what comes, as far as its session lasts.";
}

interface ReceivedProps {
  readonly message: MqttReceived;
  readonly view: PayloadView;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function Received({ message, view, isOpen, onToggle }: ReceivedProps) {
  const { at, topic, qos, retain, dup, bytes, payload, subscriptionIdentifiers } = message;
  const facts = [
    `QoS ${qos}`,
    retain && "retain",
    dup && "duplicate",
    subscriptionIdentifiers && `id ${subscriptionIdentifiers.join(", ")}`,
    formatBytes(bytes),
  ];
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <li data-open={isOpen || undefined}>
      <UnstyledButton className={own.row} aria-expanded={isOpen} onClick={onToggle}>
        <Chevron size={13} stroke={1.5} aria-hidden="true" />
        <time title={isoTime(at)}>{clockTime(at)}</time>
        <code className={own.topic}>{topic}</code>
        <span>{facts.filter(Boolean).join(" · ")}</span>
        {!isOpen && <span className={own.payload}>{previewLine({ start: payload, bytes }, view) || "empty"}</span>}
      </UnstyledButton>
      {isOpen && <Whole message={message} view={view} />}
    </li>
  );
}

function Whole({ message, view }: { readonly message: MqttReceived; readonly view: PayloadView }) {
  const { payload, bytes, properties, subscriptionIdentifiers } = message;
  const lines = useMemo(() => {
    const start = fromBase64(payload);
    return payloadLines(start, view, start.length < bytes).lines.map(lineText);
  }, [payload, bytes, view]);
  const rows = [
    ...propertiesOf(properties),
    ...(subscriptionIdentifiers ? [{ name: "Subscription", value: subscriptionIdentifiers.join(", "), isText: true }] : []),
  ];
  const shownBytes = Math.floor((payload.length * 3) / 4);
  return (
    <div className={own.whole}>
      <pre className={styles.command}>{lines.join("\n") || "empty"}</pre>
      <div className={own.facts}>
        {rows.length > 0 ? <PropertyPairs rows={rows} /> : <span>No MQTT 5.0 properties.</span>}
        {shownBytes + 2 < bytes && <span>{`The first ${formatBytes(shownBytes)} are kept.`}</span>}
        <CopyButton text={lines.join("\n")} what="the payload" />
      </div>
    </div>
  );
}
