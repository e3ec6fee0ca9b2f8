import { NativeSelect } from "@mantine/core";
import { IconArrowDown, IconCopy, IconDownload } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type LogLevel, logLevels } from "../../../../contract/log.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { formatCount, formatCountOf } from "../../ui/texts/quantity.ts";
import { IconButton, PauseButton, ToggleButton, Toolbar } from "../../ui/toolbar.tsx";
import styles from "./log-toolbar.module.css";
import type { LogView } from "./use-log-view.ts";

interface LogToolbarProps {
  readonly view: LogView;
  readonly level: LogLevel;
  onLevel(level: LogLevel): void;
  readonly text: string;
  onText(text: string): void;
  /** Whether `/` focuses the filter and Space pauses. */
  readonly hasKeys: boolean;
  readonly scope?: ReactNode;
  readonly end?: ReactNode;
}

export function LogToolbar({ view, level, onLevel, text, onText, hasKeys, scope, end }: LogToolbarProps) {
  return (
    <Toolbar label="Log lines">
      <FilterInput value={text} onChange={onText} placeholder="Filter text" slash={hasKeys} width={200} />
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
      <IconButton label="Copy the lines shown" icon={IconCopy} disabled={view.isEmpty} onClick={() => void view.copy()} />
      <IconButton label="Save all kept lines that match the filter" icon={IconDownload} onClick={() => void view.save()} />
      <ToggleButton label="Follow" icon={IconArrowDown} on={view.mode === "following"} onClick={view.toggleFollow} />
      <PauseButton paused={view.mode === "paused"} onToggle={view.togglePause} what="the log" hasKey={hasKeys} />
      {end}
    </Toolbar>
  );
}

function LogCounts({ view: { rows } }: { view: LogView }) {
  const { mode, arrived, count, hasOlder, isFull, skipped } = useRowsView(rows, (view) => view);
  const isPaused = mode === "paused";
  const facts = [
    isPaused && `${formatCount(arrived)} arrived since, all kept`,
    mode === "scrolled" && arrived > 0 && `${formatCount(arrived)} arrived since`,
    `${hasOlder || isFull ? "newest " : ""}${formatCountOf(count, "line")}`,
    skipped > 0 && `${formatCount(skipped)} arrived too fast; shown when the load falls`,
  ];
  const text = facts.filter(Boolean).join(" · ");
  return (
    <span className={styles.counts} aria-live="off" title={isPaused ? `paused, ${text}` : text}>
      {isPaused && <strong className={styles.paused}>paused</strong>}
      {isPaused && " "}
      {text}
    </span>
  );
}
