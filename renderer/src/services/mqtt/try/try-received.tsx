import { Button, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReceived, MqttTryState } from "../../../../../contract/services/mqtt-try.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { Caption, Note, PanelHead, SectionTitle } from "../../../ui/panel.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { FormatMenu } from "../../../viewer/format-menu.tsx";
import { previewLine } from "../../../viewer/payload-preview.ts";
import { useRememberedFormat } from "../../../viewer/remembered-format.ts";
import { payloadFormats } from "../history/history-head.tsx";
import { PayloadViewer } from "../history/payload-viewer.tsx";
import { PropertyPairs, propertiesOf } from "../history/property-list.tsx";
import own from "./mqtt-try.module.css";

const shownMessages = 200;
const none: readonly MqttReceived[] = [];

interface TryReceivedProps {
  readonly state: MqttTryState | undefined;
  readonly running: boolean;
}

/** The messages that the client received, newest first; each can be expanded. */
export function TryReceived({ state, running }: TryReceivedProps) {
  const client = useControl();
  const answer = useReceived(running ? (state?.received ?? 0) : 0);
  const messages = answer?.value?.messages ?? none;
  const [view, setView] = useRememberedFormat("mqtt try");
  const [opened, setOpened] = useState<number>();
  const received = state?.received ?? 0;
  return (
    <>
      <PanelHead className={own.receivedHead}>
        <SectionTitle>Received</SectionTitle>
        <Caption grow>
          {received > messages.length
            ? `newest ${formatCount(messages.length)} of ${formatCount(received)}`
            : formatCountOf(received, "message")}
        </Caption>
        <FormatMenu label="Show payloads as" value={view} onChange={setView} formats={payloadFormats} />
        <Button disabled={received === 0} onClick={() => void attempt(client.action(mqttActions, "mqtt", "try.clear"))}>
          Clear
        </Button>
      </PanelHead>
      {answer && messages.length === 0 ? (
        <Answered answer={answer} what="the messages" compact>
          {() => null}
        </Answered>
      ) : messages.length === 0 ? (
        <Note className={own.nothing}>{nothingText(state, running)}</Note>
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

/** The newest messages that the client of the Try tab received, newest first; undefined where there are none. */
function useReceived(received: number): Answer<{ readonly messages: readonly MqttReceived[] }> | undefined {
  const client = useControl();
  const answer = useAnswer({
    key: ["mqtt", "received"],
    ask: () => client.action(mqttActions, "mqtt", "try.received", { limit: shownMessages }),
    enabled: received > 0,
    version: received,
  });
  return received === 0 ? undefined : answer;
}

function nothingText(state: MqttTryState | undefined, running: boolean): string {
  if (!running) return "Start the service to publish and subscribe.";
  if ((state?.subscriptions.length ?? 0) === 0) return "Subscribe to a topic filter. The messages that this client receives appear here.";
  return state?.state === "connected"
    ? "No message yet. Publish on a topic that matches the filter."
    : "The client is not connected. The broker queues messages while its session lasts.";
}

interface ReceivedProps {
  readonly message: MqttReceived;
  readonly view: FormatChoice;
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
        <code className={own.topic}>{shownText(topic)}</code>
        <span>{facts.filter(Boolean).join(" · ")}</span>
        {!isOpen && <span className={own.payload}>{previewLine({ start: payload, bytes }, view) || "empty"}</span>}
      </UnstyledButton>
      {isOpen && <ReceivedDetails message={message} />}
    </li>
  );
}

function ReceivedDetails({ message }: { readonly message: MqttReceived }) {
  const { properties, leftUserProperties = 0, subscriptionIdentifiers } = message;
  const rows = [
    ...propertiesOf(properties),
    ...(leftUserProperties > 0
      ? [{ name: "User", value: `${formatCountOf(leftUserProperties, "further property", "further properties")}, not kept`, isText: true }]
      : []),
    ...(subscriptionIdentifiers ? [{ name: "Subscription", value: subscriptionIdentifiers.join(", "), isText: true }] : []),
  ];
  return (
    <div className={own.details}>
      <PayloadViewer message={message} emptyText="Empty." />
      <div className={own.facts}>{rows.length > 0 ? <PropertyPairs rows={rows} /> : <span>No MQTT 5.0 properties.</span>}</div>
    </div>
  );
}
