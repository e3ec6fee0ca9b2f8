import { Button } from "@mantine/core";
import {
  IconDots,
  IconDownload,
  IconMessageReply,
  IconPinnedOff,
  IconPlayerTrackNext,
  IconRobot,
  IconSend,
  IconTrash,
} from "@tabler/icons-react";
import { useState, useSyncExternalStore } from "react";
import type { ServiceView } from "../../../../../contract/service.ts";
import type { MqttViews } from "../../../../../contract/services/mqtt.ts";
import type { RateSample } from "../../../../../contract/traffic/row.ts";
import { useRate } from "../../../control/use-store.ts";
import { PausedMark } from "../../../list/follow-mark.tsx";
import { isSearching, searchingText } from "../../../list/rows/rows-shown.ts";
import { CommandButton, CommandGroups } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { formatCount, formatRate } from "../../../ui/texts/quantity.ts";
import { Facts, IconMenu, PauseButton, Toolbar, ToolbarSeparator } from "../../../ui/toolbar.tsx";
import { useLastMqttView, useMqttView } from "../broker/use-broker.ts";
import type { HistoryQuery, MessageHistory } from "../history/message-history.ts";
import { hasWildcard } from "../tree/topic-scope.ts";
import type { MqttDialogName } from "./mqtt-dialogs.tsx";
import { mqttPageCommands } from "./mqtt-page-commands.ts";
import styles from "./mqtt-toolbar.module.css";
import { RunningPublishers } from "./running-publishers.tsx";

type State = ServiceView["status"]["state"];

interface MqttToolbarProps {
  readonly history: MessageHistory;
  readonly service: ServiceView | undefined;
  readonly paused: boolean;
  readonly onPause: () => void;
  readonly onClear: () => void;
  readonly onDialog: (name: MqttDialogName) => void;
}

/** The rate, the numbers of shown and omitted messages, and the actions. */
export function MqttToolbar({ history, service, paused, onPause, onClear, onDialog }: MqttToolbarProps) {
  const state = service?.status.state;
  const running = state === "running";
  const kept = useLastMqttView("history", (history) => history.kept) ?? 0;
  const shown = useSyncExternalStore(history.subscribe, () => history.view().count);
  const query = useSyncExternalStore(history.subscribe, () => history.view().filter);
  const searches = useSyncExternalStore(history.subscribe, () => isSearching(history.view()));
  const canClear = running || (isOver(state) && Math.max(kept, shown) > 0);
  const { publish, clear, more } = useBrokerCommands({ running, canClear, onClear, onDialog });
  return (
    <Toolbar className={styles.toolbar} label="Messages">
      <LiveFacts kept={Math.max(kept, shown)} shown={shown} query={query} searches={searches} state={state} paused={paused} />
      {(running || kept > 0) && <ToolbarSeparator />}
      <CommandButton command={clear} />
      <IconMenu label="More" icon={IconDots} width={220}>
        <CommandGroups groups={more} />
      </IconMenu>
      <Button leftSection={<IconSend size={14} stroke={1.5} />} disabled={!running} onClick={publish.run}>
        Publish…
      </Button>
      <PauseButton paused={paused} onToggle={onPause} what="the page" disabled={!running && !paused} />
    </Toolbar>
  );
}

/** Not while it stops: what it answers then may come from it, or from what is kept. */
const isOver = (state: State | undefined): boolean => state === undefined || state === "stopped" || state === "failed";

interface LiveFactsProps extends Pick<MqttToolbarProps, "paused"> {
  readonly state: State | undefined;
  /** Recorded messages of all topics. */
  readonly kept: number;
  /** Those that the list holds. */
  readonly shown: number;
  /** Which they are. */
  readonly query: HistoryQuery;
  /** So far nobody knows how many there are. */
  readonly searches: boolean;
}

function LiveFacts({ state, kept, shown, query, searches, paused }: LiveFactsProps) {
  const figures = useMqttView("figures");
  const running = state === "running";
  const rate = useRate("mqtt");
  const pausedAt = usePausedAt(paused, figures);
  return (
    <>
      <Facts className={styles.facts}>
        {running && (
          <span>
            <b>{formatRate(rate?.itemsPerSecond ?? 0)}</b> msg/s
          </span>
        )}
        {isOver(state) && kept > 0 && <span className={styles.stopped}>{`${state ?? "stopped"}; this is what was kept`}</span>}
        {(running || kept > 0) && <span>{searches && query.filter !== "" ? searchingText({ kept }) : shownText(query, shown, kept)}</span>}
        {pausedAt && <PausedMark arrived={arrivedText(pausedAt, figures)} />}
        {running && <RunningPublishers />}
        <Losses figures={figures} />
      </Facts>
      <span className={styles.flow}>
        {running &&
          figures &&
          `in ${formatRate(rate?.itemsPerSecond ?? 0)}/s · out ${formatRate(sentPerSecond(rate))}/s · retained ${formatCount(figures.retained)}`}
      </span>
    </>
  );
}

/** "showing 12 of this topic, 340 kept of all": the list has one topic, or those of a filter; what is kept is of all. */
function shownText({ filter, text }: HistoryQuery, shown: number, kept: number): string {
  if (filter === "") return `${formatCount(kept)} kept`;
  if (filter === "#" && text === "") return `showing ${formatCount(shown)} of ${formatCount(kept)} kept`;
  const whose = text !== "" ? "that match" : hasWildcard(filter) ? "of these topics" : "of this topic";
  return `showing ${formatCount(shown)} ${whose}, ${formatCount(kept)} kept of all`;
}

/** Of the same second as the messages that arrived. */
const sentPerSecond = (rate: RateSample | undefined): number => rate?.figures.find(({ label }) => label === "sent")?.value ?? 0;

type Figures = MqttViews["figures"] | undefined;
interface PausedAt {
  readonly messages: number;
  readonly unrecorded: number;
}

/** The counts when the page was paused. */
function usePausedAt(paused: boolean, figures: Figures): PausedAt | undefined {
  const [pausedAt, setPausedAt] = useState<PausedAt>();
  if (paused !== (pausedAt !== undefined))
    setPausedAt(paused ? { messages: figures?.messagesIn ?? 0, unrecorded: figures?.unrecorded ?? 0 } : undefined);
  return pausedAt;
}

function arrivedText(pausedAt: PausedAt, figures: Figures): string {
  const arrived = Math.max(0, (figures?.messagesIn ?? 0) - pausedAt.messages);
  const unrecorded = Math.max(0, (figures?.unrecorded ?? 0) - pausedAt.unrecorded);
  return `${formatCount(arrived)} arrived since, ${unrecorded === 0 ? "all kept" : `${formatCount(unrecorded)} counted but not kept`}`;
}

function Losses({ figures }: { readonly figures: Figures }) {
  if (!figures) return null;
  const reasons = Object.entries(figures.dropped).filter(([, count]) => count > 0);
  const dropped = reasons.reduce((sum, [, count]) => sum + count, 0);
  if (dropped === 0 && figures.unrecorded === 0) return null;
  const title = [
    ...reasons.map(([reason, count]) => `${formatCount(count)} dropped: ${reason}.`),
    ...(figures.unrecorded > 0
      ? [`${formatCount(figures.unrecorded)} arrived too fast to be recorded individually. All were delivered and counted.`]
      : []),
  ].join(" ");
  const words = [
    dropped > 0 && `${formatCount(dropped)} dropped`,
    figures.unrecorded > 0 && `${formatCount(figures.unrecorded)} counted but not kept`,
  ];
  return (
    <span className={dropped > 0 ? styles.dropped : undefined} title={title}>
      {words.filter(Boolean).join(", ")}
    </span>
  );
}

interface CommandsProps {
  readonly running: boolean;
  readonly canClear: boolean;
  readonly onClear: () => void;
  readonly onDialog: (name: MqttDialogName) => void;
}

/** Of the whole page, for the toolbar and the palette. Kept messages can also be exported while the service is stopped. */
function useBrokerCommands({ running, canClear, onClear, onDialog }: CommandsProps) {
  const hasSample = useMqttView("sample", ({ running }) => running) ?? false;
  const dialog = (name: keyof typeof mqttPageCommands, icon: NonNullable<Command["icon"]>, enabled = running): Command => ({
    ...mqttPageCommands[name],
    enabled,
    run: () => onDialog(name),
    icon,
  });
  const commands = {
    publish: dialog("publish", IconSend),
    clear: { id: "mqtt-clear", title: "Clear counts and history", icon: IconTrash, enabled: canClear, run: onClear },
    more: [
      [
        {
          id: "mqtt-sample",
          title: hasSample ? "Sample traffic: on…" : "Sample traffic…",
          enabled: running,
          icon: IconRobot,
          run: () => onDialog("sample"),
        },
        dialog("replies", IconMessageReply),
      ],
      [dialog("export", IconDownload, true), dialog("replay", IconPlayerTrackNext)],
      [{ ...dialog("retained", IconPinnedOff), isDestructive: true }],
    ],
  } as const satisfies Readonly<Record<string, Command | readonly (readonly Command[])[]>>;
  useCommands([commands.publish, ...commands.more.flat(), commands.clear]);
  return commands;
}
