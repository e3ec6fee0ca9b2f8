import { UnstyledButton } from "@mantine/core";
import { IconArrowRight, IconCheck, IconX } from "@tabler/icons-react";
import { droppedText, type MqttDelivery, type MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import { useService } from "../../../control/use-store.ts";
import { Caption, Note, PanelHead, SectionTitle } from "../../../ui/panel.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { capitalized, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook, isoTime } from "../../../ui/texts/time.ts";
import { movedText, noDeliveryText, noSubscriberText, publisherText } from "../clients/mqtt-texts.ts";
import styles from "./delivery-panel.module.css";

interface DeliveryPanelProps {
  readonly message: MqttMessage | undefined;
  readonly onClient: (clientId: string) => void;
}

/** The clients that received the selected message, and when each acknowledged it. */
export function DeliveryPanel({ message, onClient }: DeliveryPanelProps) {
  return (
    <section className={styles.panel} aria-label="Delivery of the chosen message">
      <PanelHead>
        <SectionTitle>Delivery</SectionTitle>
        <Caption>of the chosen message</Caption>
      </PanelHead>
      {message ? (
        <Deliveries message={message} onClient={onClient} />
      ) : (
        <Note className={styles.none}>Choose a message to see which clients received it.</Note>
      )}
    </section>
  );
}

interface DeliveriesProps {
  readonly message: MqttMessage;
  /** Shows a client; without it names are not buttons. */
  readonly onClient?: (clientId: string) => void;
}

export function Deliveries({ message, onClient }: DeliveriesProps) {
  const { cluster, deliveries, delivered, dropped, moved = 0, sentAsRetained } = message;
  const listed = deliveries.length;
  const isElsewhere = cluster === "elsewhere";
  const all = delivered + dropped + moved + sentAsRetained;
  return (
    <div className={styles.content}>
      <div className={styles.by}>
        <span title={isElsewhere ? "Published at another broker" : undefined}>
          {`${isElsewhere ? "Elsewhere" : "Published"} ${message.will ? "as" : "by"}`}
        </span>
        {message.publisher !== "" && !isElsewhere && onClient ? (
          <UnstyledButton className={styles.client} title={`Show ${message.publisher}`} onClick={() => onClient(message.publisher)}>
            {publisherText(message)}
          </UnstyledButton>
        ) : (
          <b title={publisherText(message)}>{publisherText(message)}</b>
        )}
      </div>
      <p className={styles.sum}>{sumText(message)}</p>
      {listed > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
        <ul className={styles.list} tabIndex={0} aria-label="Deliveries">
          {deliveries.map((delivery, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a client may get a message twice, and deliveries only come at the end.
            <Delivery key={place} delivery={delivery} at={message.at} {...(onClient && { onClient })} />
          ))}
          {all > listed && <li className={styles.more}>{`and ${formatCount(all - listed)} more`}</li>}
        </ul>
      )}
    </div>
  );
}

function sumText(message: MqttMessage): string {
  const { matched, delivered, acknowledged, acknowledgeable, dropped, moved = 0, queued = 0, onDisk = 0, sentAsRetained } = message;
  const parts: string[] = [];
  if (delivered > 0) parts.push(`Delivered to ${formatCount(delivered)}${acknowledgeable === 0 ? " with QoS 0" : ""}`);
  else if (matched === 0) parts.push(noSubscriberText(message));
  else if (dropped + moved + queued + onDisk === 0) parts.push(noDeliveryText);
  if (acknowledgeable > 0) parts.push(`acknowledged by ${formatCount(acknowledged)}`);
  if (queued > 0) parts.push(`queued for ${formatCountOf(queued, "client")}`);
  if (onDisk > 0) parts.push(`on disk for ${formatCountOf(onDisk, "client")}, persistence is off`);
  if (moved > 0) parts.push(`at another broker for ${formatCountOf(moved, "client")}`);
  if (dropped > 0) parts.push(droppedText(message, formatCount));
  if (sentAsRetained > 0) parts.push(`later sent as retained to ${formatCount(sentAsRetained)}`);
  const text = parts.join(", ");
  return capitalized(text);
}

interface DeliveryProps extends Pick<DeliveriesProps, "onClient"> {
  readonly delivery: MqttDelivery;
  readonly at: number;
}

function Delivery({ delivery, at, onClient }: DeliveryProps) {
  const { clientId, qos, afterMs, acknowledgedAfterMs, reason, dropped, moved, asRetained } = delivery;
  const title = `QoS ${qos}, delivered ${isoTime(at + afterMs)}${acknowledgedAfterMs === undefined ? "" : `, acknowledged ${isoTime(at + acknowledgedAfterMs)}`}`;
  const client = onClient ? (
    <UnstyledButton className={styles.client} title={`Show ${shownText(clientId)}`} onClick={() => onClient(clientId)}>
      {shownText(clientId)}
    </UnstyledButton>
  ) : (
    <span className={styles.client}>{shownText(clientId)}</span>
  );
  if (dropped !== undefined) {
    return (
      <li title={`Dropped: ${dropped}`} data-tone="bad">
        <IconX size={14} stroke={1.5} aria-hidden="true" />
        {client}
        <span>{`dropped, ${dropped}`}</span>
      </li>
    );
  }
  if (moved) {
    return (
      <li title={movedText}>
        <IconArrowRight size={14} stroke={1.5} aria-hidden="true" />
        {client}
        <span>at another broker</span>
      </li>
    );
  }
  if (qos > 0 && acknowledgedAfterMs === undefined) {
    return (
      <li title={title} data-tone="warn">
        <StatusShape shape="warning" />
        {client}
        <Waiting since={at + afterMs} />
      </li>
    );
  }
  return (
    <li title={title}>
      <IconCheck size={14} stroke={1.5} aria-hidden="true" />
      {client}
      <span>
        {reason !== undefined && reason > 0 && `0x${reason.toString(16)} · `}
        {asRetained ? "as retained" : formatTook(acknowledgedAfterMs ?? afterMs)}
      </span>
    </li>
  );
}

function Waiting({ since }: { readonly since: number }) {
  const status = useService("mqtt")?.status;
  const now = useNow(500);
  if (status && (status.state !== "running" || status.since > since)) {
    return <span title="The broker ended before the client acknowledged it">not acknowledged</span>;
  }
  return <span>{`waiting ${formatTook(Math.max(0, now - since))}`}</span>;
}
