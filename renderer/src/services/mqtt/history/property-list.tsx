import type { ReactNode } from "react";
import type { MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { useFirstRows } from "../../../ui/first-rows.tsx";
import { Note, Pair, Pairs } from "../../../ui/panel.tsx";
import { formatDuration } from "../../../ui/texts/time.ts";
import { fromBase64, toHex } from "../../../viewer/decode/bytes.ts";
import { hexText } from "../../../viewer/layout/hex-lines.ts";
import styles from "./message-panel.module.css";

interface Property {
  readonly name: string;
  readonly value: ReactNode;
  readonly title?: string;
  readonly isText?: boolean;
}

/** The properties of MQTT 5.0 §3.3.2.3 as received; user properties in order. */
export function PropertyList({ message }: { readonly message: MqttMessage }) {
  const { properties, packet } = message;
  const rows = propertiesOf(properties);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section className={styles.properties} tabIndex={0} aria-label="Properties">
      {rows.length === 0 ? (
        <Note className={styles.without}>
          {message.version === undefined || message.version === 5 ? "No MQTT 5.0 properties." : "MQTT 3.1.1 has no properties."}
        </Note>
      ) : (
        <PropertyPairs rows={rows} />
      )}
      {packet !== undefined && (
        <p className={styles.packet}>
          The PUBLISH packet
          <CopyButton text={() => hexOfPacket(packet)} what="the packet as hex" />
        </p>
      )}
    </section>
  );
}

export function PropertyPairs({ rows }: { readonly rows: readonly Property[] }) {
  const { shown, more } = useFirstRows(rows, "property");
  return (
    <>
      <Pairs className={styles.pairs}>
        {shown.map(({ name, value, title, isText }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a user property may repeat, and rows never change places.
          <Pair key={place} name={name} title={title} mono={!isText}>
            {value}
          </Pair>
        ))}
      </Pairs>
      {more}
    </>
  );
}

export function propertiesOf(properties: MqttMessage["properties"]): Property[] {
  const { payloadFormatIndicator, messageExpiryInterval, contentType, responseTopic, correlationData, topicAlias, userProperties } =
    properties;
  const rows: Property[] = [];
  if (contentType !== undefined) rows.push({ name: "Content type", value: contentType });
  if (payloadFormatIndicator !== undefined)
    rows.push({ name: "Payload format", value: payloadFormatIndicator === 1 ? "UTF-8" : "bytes", isText: true });
  if (messageExpiryInterval !== undefined)
    rows.push({ name: "Message expiry", value: expiryText(messageExpiryInterval), title: `${messageExpiryInterval} s`, isText: true });
  if (responseTopic !== undefined) rows.push({ name: "Response topic", value: responseTopic });
  if (correlationData !== undefined) {
    const bytes = fromBase64(correlationData);
    rows.push({ name: "Correlation", value: toHex(bytes), title: new TextDecoder().decode(bytes) });
  }
  if (topicAlias !== undefined) rows.push({ name: "Topic alias", value: topicAlias, isText: true });
  for (const [key, value] of userProperties ?? []) rows.push({ name: `User: ${key}`, value });
  return rows;
}

const expiryText = (seconds: number): string => (seconds < 120 ? `${seconds} s` : formatDuration(seconds * 1_000));

/** As `hexdump -C` writes it. */
const hexOfPacket = (base64: string): string => hexText(fromBase64(base64));
