import { ActionIcon, Button, Menu, Tooltip } from "@mantine/core";
import {
  IconDots,
  IconDownload,
  IconMessageReply,
  IconPinnedOff,
  IconPlayerPauseFilled,
  IconPlayerTrackNext,
  IconRobot,
  IconSend,
  IconTrash,
} from "@tabler/icons-react";
import type { MqttViews } from "../../../../../contract/services/mqtt.ts";
import type { RateSample } from "../../../../../contract/traffic/row.ts";
import { formatCount, formatRate } from "../../../ui/quantity.ts";
import { Facts, IconButton, PauseButton, Toolbar, ToolbarSeparator } from "../../../ui/toolbar.tsx";
import type { MqttDialogName } from "./mqtt-dialogs.tsx";
import styles from "./mqtt-toolbar.module.css";
import { RunningPublishers } from "./running-publishers.tsx";
import { useFlowRates } from "./use-flow-rates.ts";

interface MqttToolbarProps {
  readonly rate: RateSample | undefined;
  readonly views: Partial<MqttViews>;
  readonly running: boolean;
  readonly shownCount: number;
  readonly kept: number;
  /** The counts when the page was paused. */
  readonly pausedAt: { readonly messages: number; readonly unrecorded: number } | undefined;
  readonly onPause: () => void;
  readonly onClear: () => void;
  readonly onDialog: (name: MqttDialogName) => void;
}

/** The rate, how much of it is shown and what is not; then the actions. */
export function MqttToolbar(props: MqttToolbarProps) {
  const { rate, views, running, shownCount, kept, pausedAt, onPause } = props;
  const { figures } = views;
  const flow = useFlowRates(figures);
  const isPaused = pausedAt !== undefined;
  return (
    <Toolbar className={styles.toolbar} label="Messages">
      <Facts className={styles.facts}>
        <span>
          <b>{formatRate(running ? (rate?.itemsPerSecond ?? 0) : 0)}</b> msg/s
        </span>
        <span>{`showing ${formatCount(shownCount)} of ${formatCount(Math.max(kept, shownCount))}`}</span>
        {pausedAt && (
          <span className={styles.paused}>
            <IconPlayerPauseFilled size={12} aria-hidden="true" />
            paused
            <span className={styles.arrived}>{arrivedText(pausedAt, figures)}</span>
          </span>
        )}
        <RunningPublishers views={views} />
        <Losses figures={figures} />
      </Facts>
      <span className={styles.flow}>
        {running &&
          figures &&
          `in ${formatRate(flow.inPerSecond)}/s · out ${formatRate(flow.outPerSecond)}/s · retained ${formatCount(figures.retained)}`}
      </span>
      <ToolbarSeparator />
      <IconButton label="Clear counts and history" icon={IconTrash} disabled={!running} onClick={props.onClear} />
      <MoreMenu demo={views.demo} running={running} onDialog={props.onDialog} />
      <Button leftSection={<IconSend size={14} stroke={1.5} />} disabled={!running} onClick={() => props.onDialog("publish")}>
        Publish…
      </Button>
      <PauseButton paused={isPaused} onToggle={onPause} what="the page" />
    </Toolbar>
  );
}

function arrivedText(pausedAt: NonNullable<MqttToolbarProps["pausedAt"]>, figures: MqttViews["figures"] | undefined): string {
  const arrived = Math.max(0, (figures?.messagesIn ?? 0) - pausedAt.messages);
  const unrecorded = Math.max(0, (figures?.unrecorded ?? 0) - pausedAt.unrecorded);
  return `${formatCount(arrived)} arrived since, ${unrecorded === 0 ? "all kept" : `${formatCount(unrecorded)} counted but not kept`}`;
}

function Losses({ figures }: { readonly figures: MqttViews["figures"] | undefined }) {
  if (!figures) return null;
  const reasons = Object.entries(figures.dropped).filter(([, count]) => count > 0);
  const dropped = reasons.reduce((sum, [, count]) => sum + count, 0);
  if (dropped === 0 && figures.unrecorded === 0) return null;
  const title = [
    ...reasons.map(([reason, count]) => `${formatCount(count)} dropped: ${reason}.`),
    ...(figures.unrecorded > 0
      ? [`${formatCount(figures.unrecorded)} came too fast to be recorded one by one. All were delivered and counted.`]
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

interface MoreMenuProps {
  readonly demo: MqttViews["demo"] | undefined;
  readonly running: boolean;
  readonly onDialog: (name: MqttDialogName) => void;
}

function MoreMenu({ demo, running, onDialog }: MoreMenuProps) {
  const icon = { size: 14, stroke: 1.5 } as const;
  return (
    <Menu position="bottom-end" width={220} withinPortal={false}>
      <Menu.Target>
        <Tooltip label="More">
          <ActionIcon aria-label="More" disabled={!running}>
            <IconDots size={16} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconRobot {...icon} />} onClick={() => onDialog("demo")}>
          {demo?.running ? "Demo publisher: on…" : "Demo publisher…"}
        </Menu.Item>
        <Menu.Item leftSection={<IconMessageReply {...icon} />} onClick={() => onDialog("replies")}>
          Auto-reply rules…
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconDownload {...icon} />} onClick={() => onDialog("export")}>
          Export as JSONL…
        </Menu.Item>
        <Menu.Item leftSection={<IconPlayerTrackNext {...icon} />} onClick={() => onDialog("replay")}>
          Replay a file…
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconPinnedOff {...icon} />} onClick={() => onDialog("retained")}>
          Clear retained messages…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
