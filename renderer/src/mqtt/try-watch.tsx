import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { MqttMessageSummary } from "../../../contract/mqtt.ts";
import { formatBytes, formatCountOf } from "../format/quantity.ts";
import { clockTime, isoTime } from "../format/time.ts";
import styles from "./mqtt-try.module.css";
import { previewLine } from "./payload-preview.ts";
import { publisherText } from "./publisher-text.ts";
import { isTopicFilter } from "./topic-scope.ts";
import { useMessageHistory } from "./use-message-history.ts";
import { useMqttViews } from "./use-mqtt-views.ts";

interface TryWatchProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly running: boolean;
}

const shownMessages = 200;

/** What a subscriber of the filter is sent, from now on. */
export function TryWatch({ filter, onFilter, running }: TryWatchProps) {
  const { figures } = useMqttViews();
  const [since, setSince] = useState(Date.now);
  const isValid = isTopicFilter(filter);
  const [, view] = useMessageHistory({ filter: isValid ? filter : "", text: "", figures: running ? figures : undefined });
  const messages = view.messages.filter(({ at }) => at >= since).slice(0, shownMessages);
  return (
    <section className={styles.watch} aria-label="Subscribe">
      <div className={styles.watchHead}>
        <h2 className={styles.title}>Subscribe</h2>
        <TextInput
          className={styles.filter}
          aria-label="Topic filter"
          value={filter}
          spellCheck={false}
          error={!isValid}
          onChange={(event) => {
            onFilter(event.currentTarget.value);
            setSince(Date.now());
          }}
        />
        <span className={styles.count}>{formatCountOf(messages.length, "message")}</span>
        <Button disabled={messages.length === 0} onClick={() => setSince(Date.now())}>
          Clear
        </Button>
      </div>
      {messages.length === 0 ? (
        <p className={styles.note}>
          {!running
            ? "Start the service to publish and subscribe."
            : isValid
              ? `What is published on ${filter} from now on appears here, as a subscriber gets it.`
              : "A topic filter: + stands for one level, # for all that follow and comes last."}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
        <ol className={styles.messages} tabIndex={0} aria-label={`Messages on ${filter}`}>
          {messages.map((message) => (
            <Received key={message.id} message={message} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Received({ message }: { readonly message: MqttMessageSummary }) {
  const { at, topic, qos, retain, bytes } = message;
  return (
    <li>
      <div className={styles.facts}>
        <time title={isoTime(at)}>{clockTime(at)}</time>
        <code className={styles.topic}>{topic}</code>
        <span>{[`QoS ${qos}`, retain && "retain", formatBytes(bytes), `from ${publisherText(message)}`].filter(Boolean).join(" · ")}</span>
      </div>
      <div className={styles.payload}>{previewLine(message, "text") || "empty"}</div>
    </li>
  );
}
