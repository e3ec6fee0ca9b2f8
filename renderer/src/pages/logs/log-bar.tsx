import { Kbd, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useEffect, useMemo } from "react";
import type { LogLine } from "../../../../contract/log.ts";
import { useNewestLine, useNotable, useProcesses, useServices } from "../../control/use-store.ts";
import { shortcuts } from "../../ui/commands.ts";
import { Chip } from "../../ui/panel.tsx";
import { formatBytes, formatCountOf } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import styles from "./log-bar.module.css";
import { LevelTag } from "./log-lines.tsx";
import { unseenErrors } from "./log-rows.ts";

/** The closed drawer: the number of errors since it was last open, and the newest line. */
export function LogBar({ opened, onToggle }: { opened: boolean; onToggle(): void }) {
  const newest = useNewestLine();
  const [seenAt, setSeenAt] = useRemembered("logs-seen", 0);
  useEffect(() => {
    if (opened) return () => setSeenAt(Date.now());
  }, [opened, setSeenAt]);
  const notable = useNotable();
  const services = useServices();
  // All errors are notable lines, so the other thousands of lines need not be searched.
  const errors = useMemo(() => (opened ? [] : unseenErrors(notable, seenAt, services)), [notable, opened, seenAt, services]);
  const Chevron = opened ? IconChevronDown : IconChevronUp;
  return (
    <div className={styles.bar}>
      <UnstyledButton className={styles.toggle} onClick={onToggle} aria-expanded={opened}>
        <Chevron size={14} stroke={1.5} />
        Logs
        {errors.length > 0 && (
          <Chip tone="bad" title={shownText(errors.at(-1)?.text ?? "")}>
            {formatCountOf(errors.length, "error")}
          </Chip>
        )}
      </UnstyledButton>
      {!opened && <Newest line={newest} />}
      <ProcessCount />
      <Kbd>{shortcuts.logs.keys.join(" ")}</Kbd>
    </div>
  );
}

const nothingLogged = "Nothing logged yet. Lines of all services appear here once a service starts.";

function Newest({ line }: { line: LogLine | undefined }) {
  if (!line)
    return (
      <span className={styles.empty} title={nothingLogged}>
        {nothingLogged}
      </span>
    );
  return (
    <span className={styles.line}>
      <time className={styles.time} title={isoTime(line.at)}>
        {clockTime(line.at)}
      </time>
      <LevelTag level={line.level} />
      <span className={styles.source}>{line.source}</span>
      <span className={styles.text} title={shownText(line.text)}>
        {shownText(line.text)}
      </span>
    </span>
  );
}

function ProcessCount() {
  const sample = useProcesses();
  if (!sample) return <span className={styles.processes} />;
  const { processes } = sample;
  const total = processes.reduce((sum, process) => sum + process.residentBytes, 0);
  const each = processes.map(({ name, pid, residentBytes }) => <div key={pid}>{`${name} (pid ${pid}) ${formatBytes(residentBytes)}`}</div>);
  return (
    <Tooltip label={each}>
      <span className={styles.processes}>{`${formatCountOf(processes.length, "process", "processes")} · ${formatBytes(total)}`}</span>
    </Tooltip>
  );
}
