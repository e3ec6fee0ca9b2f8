import { Button, Popover, UnstyledButton } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { type MqttViews, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import type { ControlClient } from "../../../control/control-client.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact } from "../../../ui/texts/time.ts";
import { useMqttView } from "../broker/use-broker.ts";
import styles from "./mqtt-toolbar.module.css";

type PublisherViews = { readonly [Name in "sample" | "replay" | "repeats"]: MqttViews[Name] | undefined };

interface RunningPublisher {
  readonly key: string;
  readonly what: string;
  readonly word: "Stop" | "Cancel";
  readonly stop: () => Promise<unknown>;
}

/** Publishers that run in the service: one is shown in the toolbar, several in a list. */
export function RunningPublishers() {
  const client = useControl();
  const views = { sample: useMqttView("sample"), replay: useMqttView("replay"), repeats: useMqttView("repeats") };
  const running = runningPublishers(views, client);
  const [only] = running;
  if (!only) return null;
  if (running.length === 1) return <Publisher publisher={only} />;
  return (
    <span className={styles.running}>
      <Popover position="bottom-start" withinPortal={false} trapFocus returnFocus>
        <Popover.Target>
          <UnstyledButton className={styles.several}>
            {`${running.length} publishing`}
            <IconChevronDown size={12} stroke={1.5} aria-hidden="true" />
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown className={styles.publishers}>
          <ul aria-label="Running publishers">
            {running.map((publisher) => (
              <li key={publisher.key}>
                <Publisher publisher={publisher} />
              </li>
            ))}
          </ul>
          <Button size="compact-xs" onClick={() => void attempt(Promise.all(running.map(({ stop }) => stop())))}>
            Stop all
          </Button>
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

function Publisher({ publisher: { what, word, stop } }: { readonly publisher: RunningPublisher }) {
  return (
    <span className={styles.running}>
      <span className={styles.what} title={what}>
        {what}
      </span>
      <UnstyledButton className={styles.stop} onClick={() => void attempt(stop())}>
        {word}
        <span className="visually-hidden">{` ${what}`}</span>
      </UnstyledButton>
    </span>
  );
}

function runningPublishers({ sample, replay, repeats }: PublisherViews, client: ControlClient): RunningPublisher[] {
  const running: RunningPublisher[] = [];
  if (sample?.running) {
    running.push({
      key: "sample",
      what: `sample ${formatRate(sample.params.messagesPerSecond)}/s`,
      word: "Stop",
      stop: () => client.action(mqttActions, "mqtt", "sample.stop"),
    });
  }
  const file = replay?.file;
  if (replay?.running && file) {
    running.push({
      key: "replay",
      what: `replay ${formatCount(replay.sent)} of ${formatCount(file.messages)}`,
      word: "Stop",
      stop: () => client.action(mqttActions, "mqtt", "replay.stop"),
    });
  } else if (file && !file.complete) {
    running.push({
      key: "replay",
      what: `${shownText(file.name)}, ${Math.floor((100 * file.receivedBytes) / Math.max(1, file.sizeBytes))} % read`,
      word: "Cancel",
      stop: () => client.action(mqttActions, "mqtt", "replay.discard"),
    });
  }
  for (const { id, topic, everyMs, sent } of repeats?.list ?? []) {
    running.push({
      key: `repeat ${id}`,
      what: `${shownText(topic)} every ${formatDurationExact(everyMs)}, ${formatCount(sent)} sent`,
      word: "Stop",
      stop: () => client.action(mqttActions, "mqtt", "repeat.stop", { id }),
    });
  }
  return running;
}
