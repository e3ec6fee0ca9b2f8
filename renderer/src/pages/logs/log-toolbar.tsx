import { ActionIcon, Button, NativeSelect, Tooltip } from "@mantine/core";
import { IconArrowDown, IconCopy, IconDownload, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type LogLevel, logLevels } from "../../../../contract/log.ts";
import { useRowsView } from "../../list/use-list-rows.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { formatCount, formatCountOf } from "../../ui/texts/quantity.ts";
import styles from "./log-toolbar.module.css";
import type { LogView } from "./use-log-view.ts";

interface LogToolbarProps {
  readonly view: LogView;
  readonly level: LogLevel;
  onLevel(level: LogLevel): void;
  readonly text: string;
  onText(text: string): void;
  /** Whether `/` focuses the filter. */
  readonly slash: boolean;
  readonly scope?: ReactNode;
  readonly end?: ReactNode;
}

export function LogToolbar({ view, level, onLevel, text, onText, slash, scope, end }: LogToolbarProps) {
  const follows = view.mode === "following";
  const isPaused = view.mode === "paused";
  return (
    <div className={styles.bar}>
      <FilterInput value={text} onChange={onText} placeholder="Filter text" slash={slash} width={200} />
      {scope}
      <NativeSelect
        size="xs"
        aria-label="Level"
        value={level}
        data={logLevels.map((value) => ({
          value,
          label: value === "debug" ? "all levels" : value === "error" ? "errors only" : `${value} and above`,
        }))}
        onChange={(event) => onLevel(event.currentTarget.value as LogLevel)}
      />
      <LogCounts view={view} />
      <Tooltip label="Copy the lines shown">
        <ActionIcon onClick={view.copy} disabled={view.isEmpty} aria-label="Copy the lines shown">
          <IconCopy size={16} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Save all kept lines that match the filter">
        <ActionIcon onClick={view.save} aria-label="Save all kept lines that match the filter">
          <IconDownload size={16} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
      <Button
        leftSection={<IconArrowDown size={14} stroke={1.5} />}
        aria-pressed={follows}
        className={follows ? styles.on : undefined}
        onClick={view.toggleFollow}
      >
        Follow
      </Button>
      <Button
        leftSection={isPaused ? <IconPlayerPlay size={14} stroke={1.5} /> : <IconPlayerPause size={14} stroke={1.5} />}
        onClick={view.togglePause}
      >
        {isPaused ? "Resume" : "Pause"}
      </Button>
      {end}
    </div>
  );
}

function LogCounts({ view: { rows } }: { view: LogView }) {
  const { mode, arrived, count, hasOlder, isFull, skipped } = useRowsView(rows, (view) => view);
  return (
    <span className={styles.counts} aria-live="off">
      {mode === "paused" && <strong className={styles.paused}>paused</strong>}
      {mode === "paused" && ` ${formatCount(arrived)} arrived since, all kept · `}
      {mode === "scrolled" && arrived > 0 && `${formatCount(arrived)} arrived since · `}
      {`${hasOlder || isFull ? "newest " : ""}${formatCountOf(count, "line")}`}
      {skipped > 0 && ` · ${formatCount(skipped)} arrived too fast; shown when the load falls`}
    </span>
  );
}
