import { Button, Menu } from "@mantine/core";
import { IconTrash, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttClient } from "../../../../../contract/services/mqtt-client.ts";
import { useControl } from "../../../control/client-context.tsx";
import { CommandGroups } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { onEscape } from "../../../ui/keys.ts";
import { Note, Pair, Pairs, PanelHead, SectionTitle } from "../../../ui/panel.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { formatBytes, formatCount } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDuration, formatDurationExact, isoTime } from "../../../ui/texts/time.ts";
import { IconButton } from "../../../ui/toolbar.tsx";
import styles from "./client-details.module.css";
import { ClientFaultDialog } from "./client-fault-dialog.tsx";
import { connectionTexts } from "./connection-texts.ts";
import { subscriptionText, versionText } from "./mqtt-texts.ts";

interface ClientDetailsProps {
  readonly client: MqttClient;
  /** When the broker reported it last, if the broker has ended. */
  readonly goneAt: number | undefined;
  readonly ratePerSecond: number;
  readonly onClose: () => void;
  readonly onDisconnect: () => void;
}

const neverSeconds = 4_294_967_295;
const delays = [
  { delayMs: 500, forMs: 60_000, label: "by 0.5 s, for 1 minute" },
  { delayMs: 2_000, forMs: 60_000, label: "by 2 s, for 1 minute" },
  { delayMs: 10_000, forMs: 300_000, label: "by 10 s, for 5 minutes" },
] as const;
const freezes = [
  { forMs: 10_000, label: "for 10 s" },
  { forMs: 60_000, label: "for 1 minute" },
  { forMs: 600_000, label: "for 10 minutes" },
] as const;

/** The details of one client, with menus to freeze or delay it. */
export function ClientDetails({ client, goneAt, ratePerSecond, onClose, onDisconnect }: ClientDetailsProps) {
  const { clientId, connected, activeFault } = client;
  const control = useControl();
  const confirm = useConfirm();
  const forget = async () => {
    const isSure = await confirm({
      title: `Remove the session of “${clientId}”?`,
      text: "Its subscriptions and its queue are lost. If the client is connected, it is disconnected.",
      action: "Remove the session",
    });
    if (isSure && (await attempt(control.action(mqttActions, "mqtt", "client.forget", { clientId })))) onClose();
  };
  return (
    <section className={styles.details} aria-label={`Client ${shownText(clientId)}`} onKeyDown={onEscape(onClose)}>
      <Head clientId={clientId} onClose={onClose} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <section className={styles.facts} tabIndex={0} aria-label={`Details of ${shownText(clientId)}`}>
        <Facts client={client} goneAt={goneAt} ratePerSecond={ratePerSecond} />
      </section>
      {goneAt === undefined && (
        <div className={styles.actions}>
          {connected && <Button onClick={onDisconnect}>Disconnect…</Button>}
          {connected && !activeFault && <FaultMenu clientId={clientId} />}
          {activeFault && (
            <Button onClick={() => void attempt(control.action(mqttActions, "mqtt", "client.release", { clientId }))}>Release</Button>
          )}
          <IconButton label="Remove the session…" icon={IconTrash} onClick={() => void forget()} />
        </div>
      )}
    </section>
  );
}

/** Shown instead of the details if the client's session has ended. */
export function ClientGone({ clientId, onClose }: { readonly clientId: string; readonly onClose: () => void }) {
  return (
    <section className={styles.details} aria-label={`Client ${shownText(clientId)}`} onKeyDown={onEscape(onClose)}>
      <Head clientId={clientId} onClose={onClose} />
      <Note className={styles.gone}>The connection and the session of this client have ended.</Note>
    </section>
  );
}

function Head({ clientId, onClose }: { readonly clientId: string; readonly onClose: () => void }) {
  return (
    <PanelHead plain className={styles.head}>
      <SectionTitle as="h3" className={styles.name} title={shownText(clientId)}>
        {shownText(clientId)}
      </SectionTitle>
      <IconButton label="Close the client" icon={IconX} onClick={onClose} />
    </PanelHead>
  );
}

function FaultMenu({ clientId }: { readonly clientId: string }) {
  const control = useControl();
  const [asking, setAsking] = useState(false);
  const groups: readonly (readonly Command[])[] = [
    freezes.map(({ forMs, label }) => ({
      id: `client-freeze-${forMs}`,
      title: `Freeze ${label}`,
      keywords: "client faults neither read nor write",
      run: () => void attempt(control.action(mqttActions, "mqtt", "client.freeze", { clientId, forMs })),
    })),
    delays.map(({ label, ...params }) => ({
      id: `client-delay-${params.delayMs}`,
      title: `Delay ${label}`,
      keywords: "client faults slow",
      run: () => void attempt(control.action(mqttActions, "mqtt", "client.delay", { clientId, ...params })),
    })),
    [{ id: "client-fault", title: "Freeze or delay for another time…", keywords: "client faults", run: () => setAsking(true) }],
  ];
  useCommands(groups.flat());
  return (
    <>
      <Menu position="top-end" withinPortal={false} width={250}>
        <Menu.Target>
          <Button aria-label="Freeze or delay…">Freeze…</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <CommandGroups groups={groups} />
        </Menu.Dropdown>
      </Menu>
      <ClientFaultDialog clientId={clientId} opened={asking} onClose={() => setAsking(false)} />
    </>
  );
}

function Facts({ client, goneAt, ratePerSecond }: Pick<ClientDetailsProps, "client" | "goneAt" | "ratePerSecond">) {
  const now = useNow();
  const { connected, will, subscriptions, subscriptionCount } = client;
  const { keepAlive, messages, bytes, inflight, title } = connectionTexts(client, goneAt === undefined ? ratePerSecond : undefined);
  const ofConnection = title !== undefined && { title };
  const activeFault = goneAt === undefined ? client.activeFault : undefined;
  return (
    <Pairs className={styles.pairs}>
      {activeFault && (
        <Pair name={activeFault.how === "frozen" ? "Frozen" : "Delayed"}>
          <span className={styles.warn}>{`for another ${formatDurationExact(activeFault.until - now)}`}</span>
        </Pair>
      )}
      {connected && goneAt !== undefined ? (
        <Pair name="Connected" title={`From ${isoTime(client.since)}; last seen ${isoTime(goneAt)}`}>
          {`for ${formatDuration(goneAt - client.since)}, until the broker ended`}
        </Pair>
      ) : (
        <Pair name={connected ? "Connected" : "Disconnected"} title={isoTime(client.since)}>
          {connected ? formatDuration(now - client.since) : `${formatDuration(now - client.since)} ago`}
        </Pair>
      )}
      <Pair name="Protocol">{[`MQTT ${versionText(client.version)}`, client.transport].filter(Boolean).join(", ")}</Pair>
      {client.peer && (
        <Pair name={connected ? "From" : "Last from"}>
          <Peer peer={client.peer} />
        </Pair>
      )}
      {client.username !== undefined && <Pair name="User">{client.username}</Pair>}
      <Pair name="Keep alive" {...ofConnection}>
        {keepAlive}
      </Pair>
      <Pair name="Session">
        {client.sessionExpirySeconds === 0
          ? "ends on disconnect"
          : client.sessionExpirySeconds === neverSeconds
            ? "never expires"
            : `expires after ${formatDuration(client.sessionExpirySeconds * 1_000)}`}
      </Pair>
      <Pair name="Messages" {...ofConnection}>
        {messages}
      </Pair>
      <Pair name="Bytes" {...ofConnection}>
        {bytes}
      </Pair>
      <Pair name="Queue">{`${formatCount(client.queued)} of ${formatCount(client.queueLimit)}, ${formatBytes(client.queuedBytes)}`}</Pair>
      <Pair name="In flight">{inflight}</Pair>
      {client.dropped > 0 && (
        <Pair name="Dropped">
          <span className={styles.warn}>{formatCount(client.dropped)}</span>
        </Pair>
      )}
      <Pair name="Will">
        {will ? (
          <>
            <code>{shownText(will.topic)}</code>
            {`, QoS ${will.qos}${will.retain ? ", retain" : ""}${will.delaySeconds > 0 ? `, after ${will.delaySeconds} s` : ""}`}
          </>
        ) : (
          "none"
        )}
      </Pair>
      <Pair name={`Filters (${formatCount(subscriptionCount)})`}>
        {subscriptions.length === 0
          ? "none"
          : subscriptions.map((subscription) => (
              <span key={subscription.filter} className={styles.subscription}>
                <code>{shownText(subscription.filter)}</code>
                <span>{subscriptionText(subscription)}</span>
              </span>
            ))}
      </Pair>
    </Pairs>
  );
}

/** A long address breaks before its port. */
function Peer({ peer }: { readonly peer: string }) {
  const portAt = peer.lastIndexOf(":");
  return (
    <>
      {peer.slice(0, portAt)}
      <wbr />
      {peer.slice(portAt)}
    </>
  );
}
