import { Button, SegmentedControl, Tooltip } from "@mantine/core";
import { IconArrowUpRight, IconSend } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";
import { mqttActions } from "../../../contract/mqtt.ts";
import type { Failure } from "../../../contract/service.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { StatusShape } from "../components/status-shape.tsx";
import { useRemembered } from "../components/use-remembered.ts";
import { useControl } from "../control/client-context.tsx";
import { failureOf } from "../control/failure-error.ts";
import { useService } from "../control/use-services.ts";
import { formatTook } from "../format/duration.ts";
import { formatCountOf } from "../format/quantity.ts";
import { goTo, servicePage } from "../frame/route.ts";
import { brokerAddress } from "./broker-address.ts";
import { type BrokerAddress, mosquittoPub, mosquittoSub, mqttJsLines, pahoLines } from "./mqtt-commands.ts";
import styles from "./mqtt-try.module.css";
import { firstDraft, type PublishDraft, parsePublishDraft } from "./publish-draft.ts";
import { PublishForm } from "./publish-form.tsx";
import { TryWatch } from "./try-watch.tsx";

type TryState =
  | { readonly state: "untried" }
  | { readonly state: "sending" }
  | { readonly state: "published"; readonly topic: string; readonly matched: number; readonly tookMs: number }
  | { readonly state: "failed"; readonly failure: Failure };

/** Publishes and watches from the dashboard, and the same as lines to copy. */
export function MqttTry() {
  const client = useControl();
  const service = useService("mqtt");
  const running = service?.status.state === "running";
  const [draft, setDraft] = useRemembered<PublishDraft>("mqtt.draft", firstDraft);
  const [filter, setFilter] = useRemembered("mqtt.try-filter", "test/#");
  const [state, setState] = useState<TryState>({ state: "untried" });
  const parsed = parsePublishDraft(draft);
  const canSend = running && "params" in parsed && state.state !== "sending";

  const send = async () => {
    if (!canSend) return;
    setState({ state: "sending" });
    const startedAt = performance.now();
    try {
      const { matched } = await client.action(mqttActions, "mqtt", "publish", parsed.params);
      setState({ state: "published", topic: parsed.params.topic, matched, tookMs: performance.now() - startedAt });
    } catch (error) {
      setState({ state: "failed", failure: failureOf(error) });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  return (
    <section className={styles.try} aria-label="Try the broker">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl Enter sends from any of its fields. */}
      <div className={styles.question} onKeyDown={onKeyDown}>
        <div className={styles.form}>
          <div className={styles.head}>
            <h2 className={styles.title}>Publish</h2>
            <span className={styles.told} aria-live="polite">
              <Told state={state} />
            </span>
            <Tooltip label={running ? "Publish (Ctrl Enter)" : "Start the service first"}>
              <Button
                variant="filled"
                w={100}
                loading={state.state === "sending"}
                data-disabled={!canSend}
                aria-disabled={!canSend}
                leftSection={<IconSend size={14} stroke={1.5} />}
                onClick={() => void send()}
              >
                Publish
              </Button>
            </Tooltip>
          </div>
          <PublishForm draft={draft} parsed={parsed} onDraft={setDraft} />
        </div>
        <Commands draft={draft} filter={filter} address={brokerAddress(service)} />
      </div>
      <TryWatch filter={filter} onFilter={setFilter} running={running} />
    </section>
  );
}

function Told({ state }: { readonly state: TryState }) {
  switch (state.state) {
    case "untried":
    case "sending":
      return null;
    case "failed":
      return (
        <span className={styles.problem}>
          <StatusShape shape="failed" /> {state.failure.message}
        </span>
      );
    case "published":
      return (
        <>
          <StatusShape shape="running" />
          {state.matched === 0 ? "nobody subscribes" : `matched ${formatCountOf(state.matched, "subscription")}`}
          {` · ${formatTook(state.tookMs)}`}
          <Button
            size="compact-xs"
            variant="subtle"
            rightSection={<IconArrowUpRight size={12} />}
            onClick={() => goTo(servicePage("mqtt", "live"))}
          >
            Live
          </Button>
        </>
      );
    default:
      return state satisfies never;
  }
}

const languages = [
  { value: "mosquitto", label: "mosquitto" },
  { value: "mqttjs", label: "MQTT.js" },
  { value: "paho", label: "Python" },
] as const;
type Language = (typeof languages)[number]["value"];

interface CommandsProps {
  readonly draft: PublishDraft;
  readonly filter: string;
  readonly address: BrokerAddress;
}

function Commands({ draft, filter, address }: CommandsProps) {
  const [language, setLanguage] = useRemembered<Language>("mqtt.try-language", "mosquitto");
  const text = linesOf(language, draft, filter || "#", address);
  return (
    <section className={styles.section} aria-label="The same as lines to copy">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>The same as</h2>
        <span className={styles.spring} />
        <SegmentedControl
          aria-label="Language"
          data={languages.map((entry) => ({ ...entry }))}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
        <CopyButton text={text} what="the lines" size={24} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <pre className={styles.command} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

function linesOf(language: Language, draft: PublishDraft, filter: string, address: BrokerAddress): string {
  switch (language) {
    case "mosquitto":
      return `${mosquittoSub(filter, draft.qos, address)}\n\n${mosquittoPub(draft, address)}`;
    case "mqttjs":
      return mqttJsLines(draft, filter, address);
    case "paho":
      return pahoLines(draft, filter, address);
    default:
      return language satisfies never;
  }
}
