import { SegmentedControl } from "@mantine/core";
import { type EventRange, eventOutcomes, eventsActions } from "../../../../contract/services/events.ts";
import { useControl } from "../../control/client-context.tsx";
import { FilterInput } from "../../ui/forms/filter-input.tsx";
import { type Choice, PickFilter } from "../../ui/forms/pick-filter.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { type ShownFilter, textHint } from "./event-filter.ts";
import type { EventPagesView } from "./event-pages.ts";
import styles from "./events-toolbar.module.css";

const shownIdCharacters = 8;
const none = "No event names one yet";
const ranges: readonly { readonly value: EventRange; readonly label: string }[] = [
  { value: "15m", label: "15 min" },
  { value: "1h", label: "1 h" },
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 d" },
  { value: "all", label: "All" },
];

interface EventsToolbarProps {
  readonly filter: ShownFilter;
  readonly onFilter: (filter: ShownFilter) => void;
  readonly view: EventPagesView;
}

export function EventsToolbar({ filter, onFilter, view }: EventsToolbarProps) {
  const client = useControl();
  const set = (part: Partial<ShownFilter>) => onFilter({ ...filter, ...part });

  const devices = async (prefix: string): Promise<readonly Choice[]> => {
    const found = await client.action(eventsActions, "events", "devices", { prefix, limit: 50 });
    return found.map(({ device_id, events }) => ({ value: device_id, count: events }));
  };
  const names = (of: "byLanguage" | "byProvider") => async (): Promise<readonly Choice[]> => {
    const plot = await client.action(eventsActions, "events", "plot", { range: "all", filter: {} });
    return plot[of].filter(({ name }) => name !== "").map(({ name, total }) => ({ value: name, count: total }));
  };
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Filter the events">
      <div className={styles.filter}>
        <FilterInput width="100%" placeholder="Filter by text" hint={textHint} value={filter.text} onChange={(text) => set({ text })} />
      </div>
      <PickFilter
        service="events"
        title="Device"
        value={filter.device}
        onChange={(device) => set({ device })}
        choices={devices}
        search="Device id begins with"
        none={none}
        mono
        shown={(id) => id.slice(0, shownIdCharacters)}
        widthPx={142}
      />
      <PickFilter
        service="events"
        title="Outcome"
        value={filter.outcome}
        onChange={(outcome) => set({ outcome })}
        choices={async () => eventOutcomes.map((value) => ({ value }))}
        widthPx={136}
      />
      <PickFilter
        service="events"
        title="Language"
        value={filter.language}
        onChange={(language) => set({ language })}
        choices={names("byLanguage")}
        none={none}
        widthPx={146}
      />
      <PickFilter
        service="events"
        title="Provider"
        value={filter.provider}
        onChange={(provider) => set({ provider })}
        choices={names("byProvider")}
        none={none}
        widthPx={140}
      />
      <SegmentedControl
        className={styles.ranges}
        aria-label="Time range"
        data={ranges.map((range) => ({ ...range }))}
        value={filter.range}
        onChange={(range) => set({ range: range as EventRange })}
      />
      <span className={styles.matching}>
        {!view.answered && view.reading && "searching…"}
        {view.answered && (
          <>
            <b>{`${formatCount(view.matching)}${view.exact ? "" : "+"}`}</b>{" "}
            {view.matching === 1 && view.exact ? "event matches" : "events match"}
          </>
        )}
      </span>
    </div>
  );
}
