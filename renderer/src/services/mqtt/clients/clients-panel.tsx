import { ActionIcon, Progress, Tooltip } from "@mantine/core";
import { IconFilter, IconPlugConnectedX } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttClient, MqttClientPage } from "../../../../../contract/services/mqtt-client.ts";
import { useControl } from "../../../control/client-context.tsx";
import { movedRow } from "../../../list/row-cursor.ts";
import { FilterInput } from "../../../ui/filter-input.tsx";
import { formatCount, formatRate } from "../../../ui/quantity.ts";
import { StatusShape } from "../../../ui/status-shape.tsx";
import { tellUnlessGone } from "../tree/use-topic-branches.ts";
import { ClientDetails, ClientGone } from "./client-details.tsx";
import { clientRates, noClientRates } from "./client-rates.ts";
import styles from "./clients-panel.module.css";
import { DisconnectDialog } from "./disconnect-dialog.tsx";
import { versionText } from "./version-text.ts";

const rowPx = 50;
const fullRowPx = 70;
const shownClients = 1_000;

interface ClientsPanelProps {
  readonly page: MqttClientPage | undefined;
  /** Connected or not. */
  readonly sessions: number;
  readonly chosenId: string | undefined;
  readonly onChoose: (clientId: string | undefined) => void;
}

/** Who is connected, how busy, and whose queue grows; the chosen one whole. */
export function ClientsPanel({ page, sessions, chosenId, onChoose }: ClientsPanelProps) {
  const [text, setText] = useState("");
  const [filtering, setFiltering] = useState(false);
  const [leaving, setLeaving] = useState<string>();
  const shown = useShownClients(page, text);
  const rates = useClientRates(page);
  const chosen = useChosenClient(chosenId, shown);
  return (
    <section className={styles.panel} aria-label="Clients" data-open={chosen ? true : undefined}>
      <div className={styles.head}>
        <h2 className={styles.title}>Clients</h2>
        <span className={styles.caption}>{formatCount(text === "" ? Math.max(sessions, shown.matching) : shown.matching)}</span>
        <span className={styles.spring} />
        {filtering && <FilterInput width={140} slash={false} focused placeholder="Filter clients" value={text} onChange={setText} />}
        <Tooltip label="Filter by name or subscription">
          <ActionIcon
            aria-label="Filter clients by name or subscription"
            aria-pressed={filtering}
            onClick={() => {
              setFiltering(!filtering);
              setText("");
            }}
          >
            <IconFilter size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </div>
      <ClientList
        clients={shown.clients}
        chosenId={chosenId}
        rates={rates}
        emptyText={text === "" ? "Nobody is connected." : "No client matches."}
        onChoose={onChoose}
        onDisconnect={setLeaving}
      />
      {shown.matching > shown.clients.length && (
        <p className={styles.more}>{`${formatCount(shown.matching - shown.clients.length)} more: filter to find them`}</p>
      )}
      {chosen && (
        <ClientDetails
          client={chosen}
          ratePerSecond={rates.get(chosen.clientId) ?? 0}
          onClose={() => onChoose(undefined)}
          onDisconnect={() => setLeaving(chosen.clientId)}
        />
      )}
      {chosen === null && chosenId !== undefined && <ClientGone clientId={chosenId} onClose={() => onChoose(undefined)} />}
      <DisconnectDialog clientId={leaving} onClose={() => setLeaving(undefined)} />
    </section>
  );
}

const nobody: MqttClientPage = { at: 0, clients: [], matching: 0 };

/** The view's first ones, or with a filter, or where they are not all, what the broker finds. */
function useShownClients(page: MqttClientPage | undefined, text: string): MqttClientPage {
  const client = useControl();
  const [found, setFound] = useState<MqttClientPage & { readonly of: string }>();
  const isPartial = page !== undefined && (text !== "" || page.matching > page.clients.length);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer page says that something changed.
  useEffect(() => {
    if (!isPartial) return;
    let isWanted = true;
    client
      .action(mqttActions, "mqtt", "client.list", { text, limit: shownClients })
      .then((answer) => isWanted && setFound({ ...answer, of: text }))
      .catch(tellUnlessGone);
    return () => {
      isWanted = false;
    };
  }, [client, isPartial, text, page]);
  return (isPartial && found?.of === text ? found : page) ?? nobody;
}

/** Also where it is not among those that are shown; null where it has no session here. */
function useChosenClient(chosenId: string | undefined, shown: MqttClientPage): MqttClient | null | undefined {
  const client = useControl();
  const [read, setRead] = useState<{ readonly of: string; readonly client: MqttClient | null }>();
  const known = shown.clients.find(({ clientId }) => clientId === chosenId);
  const isUnknown = known === undefined && chosenId !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page says that something changed.
  useEffect(() => {
    if (!isUnknown) return;
    let isWanted = true;
    client
      .action(mqttActions, "mqtt", "client.read", { clientId: chosenId })
      .then((answer) => isWanted && setRead({ of: chosenId, client: answer }))
      .catch(tellUnlessGone);
    return () => {
      isWanted = false;
    };
  }, [client, chosenId, isUnknown, shown]);
  return known ?? (read?.of === chosenId ? read?.client : undefined);
}

function useClientRates(page: MqttClientPage | undefined): ReadonlyMap<string, number> {
  const [rates, setRates] = useState(noClientRates);
  useEffect(() => {
    if (page) setRates((known) => clientRates(known, page.clients, page.at));
  }, [page]);
  return rates.perSecond;
}

interface ClientListProps {
  readonly clients: readonly MqttClient[];
  readonly chosenId: string | undefined;
  readonly rates: ReadonlyMap<string, number>;
  readonly emptyText: string;
  readonly onChoose: (clientId: string | undefined) => void;
  readonly onDisconnect: (clientId: string) => void;
}

function ClientList({ clients, chosenId, rates, emptyText, onChoose, onDisconnect }: ClientListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: clients.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (clients[index] && noteOf(clients[index]) ? fullRowPx : rowPx),
    getItemKey: (index) => clients[index]?.clientId ?? index,
    overscan: 4,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a queue that fills makes its row taller.
  useEffect(() => virtual.measure(), [clients.map((client) => (noteOf(client) ? 1 : 0)).join("")]);
  const items = virtual.getVirtualItems();
  const chosenAt = clients.findIndex(({ clientId }) => clientId === chosenId);
  useEffect(() => {
    if (chosenAt < 0 || !scroller.current) return;
    // Its details may leave the list little room.
    const keep = new ResizeObserver(() => virtual.scrollToIndex(chosenAt));
    keep.observe(scroller.current);
    return () => keep.disconnect();
  }, [virtual, chosenAt]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") onChoose(undefined);
    if (event.key === "Delete" && chosenId !== undefined) onDisconnect(chosenId);
    const to = movedRow(event.key, chosenAt, clients.length, 8);
    const client = to === undefined ? undefined : clients[to];
    if (to === undefined || !client) return;
    event.preventDefault();
    virtual.scrollToIndex(to);
    onChoose(client.clientId);
  };
  return (
    <>
      {clients.length === 0 && <p className={styles.none}>{emptyText}</p>}
      <div
        ref={scroller}
        className={styles.list}
        role="listbox"
        tabIndex={0}
        aria-label="Clients"
        aria-activedescendant={items.some(({ index }) => index === chosenAt) ? domIdOf(chosenId ?? "") : undefined}
        hidden={clients.length === 0}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const client = clients[item.index];
            return (
              client && (
                <ClientRow
                  key={item.key}
                  client={client}
                  topPx={item.start}
                  heightPx={item.size}
                  ratePerSecond={rates.get(client.clientId) ?? 0}
                  isChosen={client.clientId === chosenId}
                  onChoose={onChoose}
                  onDisconnect={onDisconnect}
                />
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

const domIdOf = (clientId: string) => `mqtt-client-${encodeURIComponent(clientId)}`;

interface ClientRowProps {
  readonly client: MqttClient;
  readonly topPx: number;
  readonly heightPx: number;
  readonly ratePerSecond: number;
  readonly isChosen: boolean;
  readonly onChoose: (clientId: string) => void;
  readonly onDisconnect: (clientId: string) => void;
}

function ClientRow({ client, topPx, heightPx, ratePerSecond, isChosen, onChoose, onDisconnect }: ClientRowProps) {
  const { clientId, connected, subscriptions, subscriptionCount, transport, version, queued, queueLimit } = client;
  const note = noteOf(client);
  const others = subscriptionCount > 1 ? ` +${formatCount(subscriptionCount - 1)}` : "";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and answers the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: as above.
    <div
      id={domIdOf(clientId)}
      role="option"
      aria-selected={isChosen}
      className={styles.row}
      style={{ transform: `translateY(${topPx}px)`, height: heightPx }}
      onClick={() => onChoose(clientId)}
    >
      <StatusShape shape={!connected ? "stopped" : note ? "warning" : "running"} />
      <span className={styles.name} title={clientId}>
        {clientId}
        <span className="visually-hidden">{connected ? ", connected" : ", away"}</span>
      </span>
      <span className={styles.rate}>{connected ? `${formatRate(ratePerSecond)}/s` : "away"}</span>
      <span className={styles.filter}>{subscriptions[0] ? `${subscriptions[0].filter}${others}` : "no subscription"}</span>
      <span className={styles.version}>{[transport, versionText(version)].filter(Boolean).join(" ")}</span>
      {note && (
        <span className={styles.queue}>
          {queued > 0 && (
            <Progress value={(100 * queued) / Math.max(1, queueLimit)} color="var(--bl-warn)" aria-label={`Queue of ${clientId}`} />
          )}
          <span className={styles.note} title={note}>
            {note}
          </span>
        </span>
      )}
      {connected && (
        // A pointer's short cut and no button, which an option may not hold: by keyboard it is Delete.
        // biome-ignore lint/a11y: as above.
        <span
          className={styles.action}
          title={`Disconnect ${clientId}…`}
          onClick={(event) => {
            event.stopPropagation();
            onDisconnect(clientId);
          }}
        >
          <IconPlugConnectedX size={14} stroke={1.5} aria-hidden="true" />
        </span>
      )}
    </div>
  );
}

/** What is out of the ordinary. */
function noteOf({ hindered, queued, queueLimit, dropped }: MqttClient): string {
  const parts = [
    hindered?.how,
    queued > 0 && `${formatCount(queued)} of ${formatCount(queueLimit)} queued`,
    dropped > 0 && `${formatCount(dropped)} dropped`,
  ];
  return parts.filter(Boolean).join(" · ");
}
