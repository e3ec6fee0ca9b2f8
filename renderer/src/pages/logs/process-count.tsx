import { Tooltip } from "@mantine/core";
import { useProcesses } from "../../control/use-store.ts";
import { formatBytes, formatCountOf } from "../../ui/quantity.ts";
import styles from "./log-bar.module.css";

export function ProcessCount() {
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
