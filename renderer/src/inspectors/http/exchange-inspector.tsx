import { ActionIcon, Tabs, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { HttpExchange } from "../../../../contract/traffic/http.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { ToneMark } from "../../list/tone-mark.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { fromBase64 } from "../../viewer/bytes.ts";
import { ConnectionTab } from "./connection-tab.tsx";
import type { Replay } from "./copy-as.ts";
import { CopyMenu } from "./copy-menu.tsx";
import styles from "./exchange-inspector.module.css";
import { RequestTab } from "./request-tab.tsx";
import { ResponseTab } from "./response-tab.tsx";
import { TimingTab } from "./timing-tab.tsx";
import { toneOf } from "./tone-of.ts";
import { useExchange } from "./use-exchange.ts";

const tabs = ["request", "response", "timing", "connection"] as const;

interface ExchangeInspectorProps {
  readonly service: ServiceId;
  /** `TrafficRow.id` */
  readonly row: number;
  /** The row as the list has it, while it has it. */
  readonly live: TrafficRow | undefined;
  readonly origin: string;
  readonly onClose: () => void;
}

/** One request and its answer, whole, beside the list. */
export function ExchangeInspector({ service, row, live, origin, onClose }: ExchangeInspectorProps) {
  const [tab, setTab] = useRemembered<string>("inspector.tab", "response");
  const version = live ? `${live.tone} ${live.bytesOut}` : "";
  const state = useExchange(service, row, version, live?.tone === "pending");
  const exchange = state.state === "found" ? state.exchange : undefined;
  const replay = useMemo(() => exchange && replayOf(exchange, origin), [exchange, origin]);
  const { tone, word } = toneOf(exchange);
  return (
    <Tabs
      className={styles.inspector}
      value={tab}
      onChange={(next) => setTab(next ?? "response")}
      keepMounted={false}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <header className={styles.head}>
        <h2 className={styles.name} title={exchange && `${exchange.request.method} ${exchange.request.target}`}>
          <span className={styles.verb}>{exchange?.request.method ?? live?.verb}</span> {exchange?.request.target ?? live?.target}
        </h2>
        {exchange && <ToneMark tone={tone} word={word} />}
        <span className={styles.spring} />
        {replay && <CopyMenu replay={replay} />}
        <Tooltip label="Close (Esc)">
          <ActionIcon aria-label="Close the inspector" onClick={onClose}>
            <IconX size={16} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </header>
      <Tabs.List className={styles.tabs}>
        {tabs.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name.charAt(0).toUpperCase() + name.slice(1)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {state.state === "gone" && (
        <p className={styles.note}>This exchange is no longer kept: newer ones took its place, or the list was cleared.</p>
      )}
      {state.state === "failed" && (
        <p className={styles.note} role="alert">
          {state.failure.message} {state.failure.hint}
        </p>
      )}
      {exchange && (
        <>
          <Tabs.Panel value="request" className={styles.panel}>
            <RequestTab exchange={exchange} />
          </Tabs.Panel>
          <Tabs.Panel value="response" className={styles.panel}>
            <ResponseTab exchange={exchange} />
          </Tabs.Panel>
          <Tabs.Panel value="timing" className={styles.panel}>
            <TimingTab exchange={exchange} />
          </Tabs.Panel>
          <Tabs.Panel value="connection" className={styles.panel}>
            <ConnectionTab exchange={exchange} />
          </Tabs.Panel>
        </>
      )}
    </Tabs>
  );
}

function replayOf({ request }: HttpExchange, origin: string): Replay {
  const body = fromBase64(request.body.base64);
  return { ...request, origin, body, missingBytes: request.body.bytes - body.length };
}
