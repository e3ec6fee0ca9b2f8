import { Menu, UnstyledButton } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { clockTime } from "../../../ui/texts/time.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { previewLine } from "../../../viewer/payload-preview.ts";
import styles from "./message-panel.module.css";

const pageRows = 50;

interface CompareMenuProps {
  readonly message: MqttMessage;
  /** The message it is compared with; undefined until it was read. */
  readonly other: MqttMessage | undefined;
  readonly view: FormatChoice;
  /** Undefined for the previous message. */
  readonly onCompare: (other: MqttMessageSummary | undefined) => void;
}

/** Chooses the older message of the topic for the comparison. */
export function CompareMenu({ message, other, view, onCompare }: CompareMenuProps) {
  const client = useControl();
  const [older, setOlder] = useState<readonly MqttMessageSummary[]>([]);
  const [hasMore, setHasMore] = useState(false);
  const read = (known: readonly MqttMessageSummary[]) =>
    attempt(
      client
        .action(mqttActions, "mqtt", "topic.history", { filter: message.topic, before: known.at(-1)?.id ?? message.id, limit: pageRows })
        .then(({ messages, hasOlder }) => {
          setOlder([...known, ...messages]);
          setHasMore(hasOlder);
        }),
    );
  return (
    <Menu position="bottom-end" width={340} withinPortal={false} onOpen={() => void read([])}>
      <Menu.Target>
        <UnstyledButton
          className={styles.compared}
          aria-label={`vs ${other ? clockTime(other.at) : "…"}`}
          title="Compare with another message of the topic"
        >
          vs <span className={styles.when}>{other ? clockTime(other.at) : "…"}</span>
          <IconChevronDown size={11} stroke={1.5} aria-hidden="true" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown mah="50vh" className={styles.older}>
        <Menu.Item onClick={() => onCompare(undefined)}>Previous message</Menu.Item>
        <Menu.Divider />
        {older.map((summary) => (
          <Menu.Item key={summary.id} aria-current={summary.id === other?.id} onClick={() => onCompare(summary)}>
            <span className={styles.olderRow}>
              <time>{clockTime(summary.at)}</time>
              <span>{previewLine(summary, view) || "empty"}</span>
            </span>
          </Menu.Item>
        ))}
        {hasMore && (
          <Menu.Item closeMenuOnClick={false} onClick={() => void read(older)}>
            Older messages…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
