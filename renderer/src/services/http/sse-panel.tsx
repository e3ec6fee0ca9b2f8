import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { ServiceView } from "../../../../contract/service.ts";
import { type HttpViews, httpActions, type SseSubscriber } from "../../../../contract/services/http.ts";
import { useControl } from "../../control/client-context.tsx";
import { viewsOf } from "../../control/use-store.ts";
import { CommandLine } from "../../ui/copy/command-line.tsx";
import { LowerPanel, LowerRow } from "../../ui/lower-panel.tsx";
import { Caption, Spring } from "../../ui/panel.tsx";
import { attempt } from "../../ui/status/notify.tsx";
import { useNow } from "../../ui/status/since.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import { originOf } from "../../ui/texts/address.ts";
import { formatCount, formatCountOf, pluralOf } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { formatDurationExact, isoTime } from "../../ui/texts/time.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import { SendEvent } from "./send-event.tsx";
import styles from "./sse-panel.module.css";

const useHttpView = viewsOf<HttpViews>("http");
const nobody: readonly SseSubscriber[] = [];

/** The subscribers of /api/stream with their last events, and a form to send an event. */
export function SsePanel({ service }: { readonly service: ServiceView | undefined }) {
  const sse = useHttpView("sse");
  const running = service?.status.state === "running";
  const subscribers = sse?.subscribers ?? nobody;
  const here = sse?.open ?? 0;
  const listed = subscribers.filter((subscriber) => subscriber.closedAt === undefined).length;
  const isEmpty = subscribers.length === 0;
  return (
    <LowerPanel
      title="SSE subscribers"
      rememberAs="sse"
      heightPx={84}
      listLabel="Subscribers of /api/stream"
      heightLabel="Height of the subscribers"
      isEmpty={isEmpty}
      head={
        <>
          <Caption className={styles.caption} data-empty={isEmpty}>
            {isEmpty ? (
              "none"
            ) : (
              <>
                {formatCount(here)}
                <span className={styles.more}>
                  {" on "}
                  <code>/api/stream</code>
                  {listed < here && `, the newest ${formatCount(listed)} are listed`}
                </span>
              </>
            )}
            {sse !== undefined && sse.eventsSent > 0 && (
              <span className={styles.more}>{` · ${formatCountOf(sse.eventsSent, "event")} sent`}</span>
            )}
          </Caption>
          <Spring />
          {isEmpty ? (
            running && (
              <span className={styles.way}>
                <CommandLine command={`curl -N '${originOf(service)}/api/stream?count=0'`} />
              </span>
            )
          ) : (
            <SendEvent disabled={!running} />
          )}
        </>
      }
    >
      <Subscribers subscribers={subscribers} />
    </LowerPanel>
  );
}

function Subscribers({ subscribers }: { readonly subscribers: readonly SseSubscriber[] }) {
  const now = useNow();
  return subscribers.map((subscriber) => <Subscriber key={subscriber.id} subscriber={subscriber} now={now} />);
}

const leftBecause = { client: "closed by client", server: "disconnected from here", done: "stream ended" } as const;

function Subscriber({ subscriber, now }: { readonly subscriber: SseSubscriber; readonly now: number }) {
  const client = useControl();
  const { id, closedAt, closedBy, lastEvent, resumedFrom, skipped } = subscriber;
  const isHere = closedAt === undefined;
  const notes = [
    !isHere && leftBecause[closedBy ?? "client"],
    skipped > 0 && `${formatCountOf(skipped, "event")} left out, it reads too slowly`,
    isHere && resumedFrom !== undefined && `resumed from ${shownText(resumedFrom)}`,
  ].filter(Boolean);
  return (
    <LowerRow className={styles.subscriber} data-left={!isHere}>
      <StatusShape shape={isHere ? "running" : "stopped"} />
      <span className={styles.peer}>
        {subscriber.peer}
        <span className="visually-hidden">{isHere ? ", connected" : ", left"}</span>
      </span>
      <span className={styles.client}>{shownText(subscriber.client)}</span>
      <span className={styles.age} title={`since ${isoTime(subscriber.openedAt)}`}>
        {formatDurationExact((closedAt ?? now) - subscriber.openedAt)}
      </span>
      <span className={styles.sent}>
        <b>{formatCount(subscriber.sent)}</b> {pluralOf(subscriber.sent, "event", "events")}
      </span>
      <span className={styles.last} title={shownText(lastEvent)}>
        {[...notes, isHere || lastEvent === "" ? shownText(lastEvent) : `last ${shownText(lastEvent)}`].filter(Boolean).join(" · ")}
      </span>
      {isHere && (
        <Tooltip label="Disconnect" position="left">
          <ActionIcon
            aria-label={`Disconnect ${subscriber.peer}`}
            onClick={() => void attempt(client.action(httpActions, "http", "sse.disconnect", { subscriber: id }))}
          >
            <IconX size={14} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      )}
    </LowerRow>
  );
}
