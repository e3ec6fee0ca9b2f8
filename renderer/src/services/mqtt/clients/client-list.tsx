import { Progress } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from "react";
import type { MqttClient } from "../../../../../contract/services/mqtt-client.ts";
import type { DataTableHandle } from "../../../list/data-table.tsx";
import { movedRow } from "../../../list/row-cursor.ts";
import { Note } from "../../../ui/panel.tsx";
import { StatusShape } from "../../../ui/status/status-shape.tsx";
import { formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { RowAction, VirtualList, VirtualRow } from "../../../ui/virtual-list.tsx";
import styles from "./clients-panel.module.css";
import { versionText } from "./mqtt-texts.ts";

const rowPx = 50;
const fullRowPx = 70;

interface ClientListProps {
  /** Gives the list the focus. */
  readonly ref: Ref<Pick<DataTableHandle, "focus">>;
  readonly clients: readonly MqttClient[];
  /** They are those of a broker that has ended. */
  readonly isGone: boolean;
  readonly chosenId: string | undefined;
  readonly rates: ReadonlyMap<string, number>;
  readonly emptyText: string;
  readonly onEndNear: () => void;
  readonly onChoose: (clientId: string | undefined) => void;
  readonly onDisconnect: (clientId: string) => void;
}

/** Only the rows in sight are drawn. */
export function ClientList({ ref, clients, isGone, chosenId, rates, emptyText, onEndNear, onChoose, onDisconnect }: ClientListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  useImperativeHandle(ref, () => ({ focus: () => scroller.current?.focus({ preventScroll: true }) }), []);
  const virtual = useVirtualizer({
    count: clients.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (clients[index] && noteOf(clients[index]) ? fullRowPx : rowPx),
    getItemKey: (index) => clients[index]?.clientId ?? index,
    overscan: 4,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows with notes are taller.
  useEffect(() => virtual.measure(), [clients.map((client) => (noteOf(client) ? 1 : 0)).join("")]);
  const items = virtual.getVirtualItems();
  const isEndNear = clients.length > 0 && (items.at(-1)?.index ?? 0) >= clients.length - 8;
  const endNear = useEffectEvent(onEndNear);
  useEffect(() => {
    if (isEndNear) endNear();
  }, [isEndNear]);
  const chosenAt = clients.findIndex(({ clientId }) => clientId === chosenId);
  useEffect(() => {
    if (chosenAt < 0 || !scroller.current) return;
    // The details may leave little room for the list.
    const keep = new ResizeObserver(() => virtual.scrollToIndex(chosenAt));
    keep.observe(scroller.current);
    return () => keep.disconnect();
  }, [virtual, chosenAt]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") onChoose(undefined);
    if (event.key === "Delete" && chosenId !== undefined && !isGone) onDisconnect(chosenId);
    const to = movedRow(event.key, chosenAt, clients.length, 8);
    const client = to === undefined ? undefined : clients[to];
    if (to === undefined || !client) return;
    event.preventDefault();
    virtual.scrollToIndex(to);
    onChoose(client.clientId);
  };
  return (
    <>
      {clients.length === 0 && <Note className={styles.none}>{emptyText}</Note>}
      <div className={`focus-frame ${styles.frame}`} hidden={clients.length === 0}>
        <VirtualList
          ref={scroller}
          heightPx={virtual.getTotalSize()}
          role="listbox"
          aria-label="Clients"
          aria-activedescendant={items.some(({ index }) => index === chosenAt) ? domIdOf(chosenId ?? "") : undefined}
          onKeyDown={onKeyDown}
        >
          {items.map((item) => {
            const client = clients[item.index];
            return (
              client && (
                <ClientRow
                  key={item.key}
                  client={client}
                  isGone={isGone}
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
        </VirtualList>
      </div>
    </>
  );
}

const domIdOf = (clientId: string) => `mqtt-client-${encodeURIComponent(clientId)}`;

interface ClientRowProps {
  readonly client: MqttClient;
  readonly isGone: boolean;
  readonly topPx: number;
  readonly heightPx: number;
  readonly ratePerSecond: number;
  readonly isChosen: boolean;
  readonly onChoose: (clientId: string) => void;
  readonly onDisconnect: (clientId: string) => void;
}

function ClientRow({ client, isGone, topPx, heightPx, ratePerSecond, isChosen, onChoose, onDisconnect }: ClientRowProps) {
  const { clientId, subscriptions, subscriptionCount, transport, version, queued, queueLimit } = client;
  const connected = client.connected && !isGone;
  const away = isGone ? "gone" : "away";
  const note = noteOf(client);
  const others = subscriptionCount > 1 ? ` +${formatCount(subscriptionCount - 1)}` : "";
  const filter = subscriptions[0] ? `${shownText(subscriptions[0].filter)}${others}` : "no subscription";
  return (
    <VirtualRow
      id={domIdOf(clientId)}
      role="option"
      aria-selected={isChosen}
      className={styles.row}
      topPx={topPx}
      heightPx={heightPx}
      onClick={() => onChoose(clientId)}
    >
      <StatusShape shape={!connected ? "stopped" : note ? "warning" : "running"} />
      <span className={styles.name} title={shownText(clientId)}>
        {shownText(clientId)}
        <span className="visually-hidden">{`, ${connected ? "connected" : away}`}</span>
      </span>
      <span className={styles.rate}>{connected ? `${formatRate(ratePerSecond)}/s` : away}</span>
      <span className={styles.filter} title={filter}>
        {filter}
      </span>
      <span className={styles.version}>{[transport, versionText(version)].filter(Boolean).join(" ")}</span>
      {note && (
        <span className={styles.queue}>
          {queued > 0 && (
            <Progress
              value={(100 * queued) / Math.max(1, queueLimit)}
              color="var(--bl-warn)"
              aria-label={`Queue of ${shownText(clientId)}`}
            />
          )}
          <span className={styles.note} title={note}>
            {note}
          </span>
        </span>
      )}
      {connected && (
        // By keyboard: Delete.
        <RowAction
          className={styles.action}
          title={`Disconnect ${shownText(clientId)}…`}
          onClick={(event) => {
            event.stopPropagation();
            onDisconnect(clientId);
          }}
        >
          <IconPlugConnectedX size={14} stroke={1.5} aria-hidden="true" />
        </RowAction>
      )}
    </VirtualRow>
  );
}

/** Notes on unusual states. */
function noteOf({ activeFault, queued, queueLimit, dropped }: MqttClient): string {
  const parts = [
    activeFault?.how,
    queued > 0 && `${formatCount(queued)} of ${formatCount(queueLimit)} queued`,
    dropped > 0 && `${formatCount(dropped)} dropped`,
  ];
  return parts.filter(Boolean).join(" · ");
}
