import { ActionIcon, Button, Divider, SegmentedControl, Tooltip } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlayFilled, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import styles from "../../list/list-page.module.css";
import type { TrafficFilter } from "../../list/traffic-filter.ts";
import { FilterInput } from "../../ui/filter-input.tsx";

const scopes: readonly { readonly value: TrafficFilter["tone"]; readonly label: string }[] = [
  { value: "all", label: "All" },
  { value: "ok", label: "2xx" },
  { value: "redirect", label: "3xx" },
  { value: "refused", label: "4xx" },
  { value: "failed", label: "5xx" },
];

interface LiveToolbarProps {
  readonly filter: TrafficFilter;
  readonly onFilter: (filter: TrafficFilter) => void;
  readonly paused: boolean;
  readonly onPause: () => void;
  readonly onClear: () => void;
  readonly onDown: () => void;
  readonly columnMenu: ReactNode;
  /** What the text filter looks at. */
  readonly placeholder: string;
}

export function LiveToolbar({ filter, onFilter, paused, onPause, onClear, onDown, columnMenu, placeholder }: LiveToolbarProps) {
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Requests">
      <div className={styles.filter}>
        <FilterInput
          onDown={onDown}
          width="100%"
          placeholder={placeholder}
          value={filter.text}
          onChange={(text) => onFilter({ ...filter, text })}
        />
      </div>
      <SegmentedControl
        className={styles.scope}
        aria-label="Status"
        data={scopes.map((scope) => ({ ...scope }))}
        value={filter.tone}
        onChange={(tone) => onFilter({ ...filter, tone: tone as TrafficFilter["tone"] })}
      />
      <span className={styles.spring} />
      <Tooltip label="Clear the list">
        <ActionIcon aria-label="Clear the list" onClick={onClear}>
          <IconTrash size={15} stroke={1.5} />
        </ActionIcon>
      </Tooltip>
      {columnMenu}
      <Divider orientation="vertical" h={14} style={{ alignSelf: "center" }} />
      <Tooltip label={paused ? "Follow the newest again (Space)" : "Hold the list; capture goes on (Space)"}>
        <Button
          w={90}
          className={styles.pause}
          variant={paused ? "filled" : "default"}
          onClick={onPause}
          aria-pressed={paused}
          leftSection={paused ? <IconPlayerPlayFilled size={13} /> : <IconPlayerPause size={14} stroke={1.5} />}
        >
          {paused ? "Resume" : "Pause"}
        </Button>
      </Tooltip>
    </div>
  );
}
