import { Button, UnstyledButton } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorSlot } from "../../app/inspector-slot.tsx";
import { useServices } from "../../control/use-store.ts";
import { DataTable, type DataTableHandle } from "../../list/data-table.tsx";
import { isPickedAtStart } from "../../ui/address.ts";
import { CommandLine } from "../../ui/command-line.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { FilterInput } from "../../ui/filter-input.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { useSpace } from "../../ui/use-space.ts";
import { seriesToken } from "../overview/series-color.ts";
import { RowInspector } from "../service/row-inspector.tsx";
import styles from "./timeline.module.css";
import { timelineColumns } from "./timeline-columns.tsx";
import { timelineId } from "./timeline-rows.ts";
import { TimelineStatus } from "./timeline-status.tsx";
import { useTimeline } from "./use-timeline.ts";

const noneHidden: readonly ServiceId[] = [];

/** What passes through every service, on one clock. */
export function TimelinePage() {
  const built = useServices().filter((service) => service.built);
  const [hidden, setHidden] = useRemembered<readonly ServiceId[]>("timeline-hidden", noneHidden);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<TrafficRow>();
  const [opened, setOpened] = useState(false);
  const table = useRef<DataTableHandle>(null);
  const titles = built.map(({ id, title }) => `${id}=${title}`).join();
  const columns = useMemo(() => {
    const byId = new Map(titles.split(",").map((pair) => pair.split("=") as [ServiceId, string]));
    return timelineColumns((id) => byId.get(id) ?? id);
  }, [titles]);
  const shownIds = built.map(({ id }) => id).filter((id) => !hidden.includes(id));
  const { view, togglePause, onScrolledAway } = useTimeline(shownIds, text);
  useSpace(togglePause);
  const shown = useMemo(() => view.rows.filter((row) => !hidden.includes(row.service)), [view.rows, hidden]);
  const http = built.find((service) => service.id === "http")?.plannedEndpoints[0];
  const paused = view.mode === "paused";
  // A pending row is replaced in the list when it ends; what was chosen is the row as it was then.
  const chosenNow = chosen && shown.find((row) => row.service === chosen.service && row.id === chosen.id);

  const toggle = (id: ServiceId) => setHidden(hidden.includes(id) ? hidden.filter((other) => other !== id) : [...hidden, id]);
  const open = (row: TrafficRow) => {
    setChosen(row);
    setOpened(true);
  };
  const close = () => {
    setOpened(false);
    table.current?.focus();
  };
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>Timeline</h1>
      <div className={styles.bar}>
        <FilterInput value={text} onChange={setText} placeholder="Filter path, topic, client, start of body" />
        {built.map(({ id, title }) => (
          <UnstyledButton key={id} className={styles.toggle} aria-pressed={!hidden.includes(id)} onClick={() => toggle(id)}>
            <span className={styles.swatch} style={{ "--series": `var(${seriesToken(id)})` } as never} />
            {title}
          </UnstyledButton>
        ))}
        <Button
          ml="auto"
          leftSection={paused ? <IconPlayerPlay size={14} stroke={1.5} /> : <IconPlayerPause size={14} stroke={1.5} />}
          onClick={togglePause}
        >
          {paused ? "Resume" : "Pause"}
        </Button>
      </div>
      <DataTable
        ref={table}
        label="Traffic of all services, newest first"
        count={shown.length}
        rowAt={(index) => shown[index]}
        rowId={timelineId}
        columns={columns}
        chosen={chosen && timelineId(chosen)}
        onChoose={setChosen}
        onOpen={open}
        onClose={close}
        onScrolledAway={onScrolledAway}
        empty={
          view.loaded && (
            <EmptyState
              title={text || hidden.length > 0 ? "Nothing passes this filter" : "Nothing has passed through yet"}
              text="Every request, call and message of every service appears here, newest first, on one clock."
            >
              {http && !isPickedAtStart(http.url) && <CommandLine command={`curl ${http.url.replace(/\/$/, "")}/api/data`} />}
            </EmptyState>
          )
        }
      />
      <TimelineStatus view={view} shown={shown.length} onNewest={() => table.current?.toTop()} />
      {opened && chosen && (
        <InspectorSlot>
          <RowInspector service={chosen.service} row={chosen.id} live={chosenNow ?? chosen} onClose={close} />
        </InspectorSlot>
      )}
    </div>
  );
}
