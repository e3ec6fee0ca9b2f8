import { ActionIcon, NativeSelect } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { z } from "zod";
import { type LogLevel, type LogSource, logLevels } from "../../../../contract/log.ts";
import { serviceIds } from "../../../../contract/service.ts";
import { useServices } from "../../control/use-store.ts";
import { ListAnswer } from "../../list/list-answer.tsx";
import { useCommands } from "../../ui/commands.ts";
import { EdgeHandle } from "../../ui/edge-handle.tsx";
import { Boundary } from "../../ui/status/boundary.tsx";
import { EmptyState } from "../../ui/status/empty-state.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { LogBar } from "./log-bar.tsx";
import styles from "./log-drawer.module.css";
import { LogLines } from "./log-lines.tsx";
import { LogToolbar } from "./log-toolbar.tsx";
import { useLogView } from "./use-log-view.ts";

/** The logs of all services, below every page. */
export function LogDrawer() {
  const { opened, toggle } = useLogDrawer();
  const [height, setHeight] = useRemembered("logs-height", 280);
  useCommands([{ id: "logs", title: opened ? "Close the logs" : "Open the logs", key: "logs", run: toggle }]);
  return (
    <section className={styles.drawer} aria-label="Logs">
      {opened && <EdgeHandle axis="y" minimum={140} maximum={600} value={height} onChange={setHeight} label="Height of the logs" />}
      {opened && (
        <div className={styles.content} style={{ height }}>
          <Boundary region="logs: lines">
            <OpenDrawer onClose={toggle} />
          </Boundary>
        </div>
      )}
      <Boundary region="logs: newest line" line>
        <LogBar opened={opened} onToggle={toggle} />
      </Boundary>
    </section>
  );
}

function OpenDrawer({ onClose }: { onClose(): void }) {
  const services = useServices();
  const [source, setSource] = useRemembered<LogSource | "">("logs-source", "", z.enum([...serviceIds, "backlot", ""]));
  const [level, setLevel] = useRemembered<LogLevel>("logs-level", "debug", z.enum(logLevels));
  const [text, setText] = useState("");
  const view = useLogView({ level, text, ...(source && { source }) });
  const scope = (
    <NativeSelect
      size="xs"
      aria-label="Service"
      value={source}
      data={[
        { value: "", label: "all services" },
        ...services.filter((service) => service.built).map((service) => ({ value: service.id, label: service.title })),
        { value: "backlot", label: "Backlot" },
      ]}
      onChange={(event) => setSource(event.currentTarget.value as LogSource | "")}
    />
  );
  return (
    <>
      <LogToolbar
        view={view}
        level={level}
        onLevel={setLevel}
        text={text}
        onText={setText}
        hasKeys={false}
        scope={scope}
        end={
          <ActionIcon onClick={onClose} aria-label="Close the logs">
            <IconChevronDown size={16} stroke={1.5} />
          </ActionIcon>
        }
      />
      <ListAnswer rows={view.rows} what="the log">
        {!view.isEmpty ? (
          <LogLines rows={view.rows} />
        ) : (
          <EmptyState
            title={text || source || level !== "debug" ? "No line matches this filter" : "Nothing logged yet"}
            text="Log lines of all services appear here, newest last, once a service starts."
          />
        )}
      </ListAnswer>
    </>
  );
}

/** Whether the drawer is open: remembered, and shared by all components. */
function useLogDrawer() {
  const [opened, setOpened] = useRemembered("logs-open", false);
  return { opened, toggle: () => setOpened((was) => !was) };
}
