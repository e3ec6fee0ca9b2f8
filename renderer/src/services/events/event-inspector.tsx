import { ActionIcon, Button, Tabs, Tooltip } from "@mantine/core";
import { IconFilter, IconTextWrap, IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import type { EventRow } from "../../../../contract/services/events.ts";
import { CopyMenu } from "../../inspectors/http/copy-menu.tsx";
import frame from "../../inspectors/http/exchange-inspector.module.css";
import list from "../../inspectors/http/header-list.module.css";
import { CopyButton } from "../../ui/copy-button.tsx";
import { formatCount } from "../../ui/quantity.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { TextWell } from "../../viewer/content-well.tsx";
import { layOutJson } from "../../viewer/json-layout.ts";
import { eventField, fieldGroups } from "./event-fields.ts";
import styles from "./event-inspector.module.css";
import { OutcomeMark } from "./outcome-mark.tsx";
import { postedEvent, replayOfEvent } from "./posted-event.ts";

interface EventInspectorProps {
  readonly row: EventRow;
  readonly origin: string;
  readonly onDevice: (device: string) => void;
  readonly onClose: () => void;
}

/** One event, every field of it, and the request that would store it again. */
export function EventInspector({ row, origin, onDevice, onClose }: EventInspectorProps) {
  const [tab, setTab] = useRemembered<string>("events.inspector.tab", "fields");
  const replay = useMemo(() => replayOfEvent(row, origin), [row, origin]);
  return (
    <Tabs
      className={frame.inspector}
      value={tab}
      onChange={(next) => setTab(next ?? "fields")}
      keepMounted={false}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <header className={frame.head}>
        <h2 className={styles.name}>{`Event ${formatCount(row.id)}`}</h2>
        <OutcomeMark outcome={row.outcome} />
        <span className={frame.spring} />
        <CopyMenu replay={replay} />
        <Tooltip label="Close (Esc)">
          <ActionIcon aria-label="Close the inspector" onClick={onClose}>
            <IconX size={16} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </header>
      <Tabs.List className={frame.tabs}>
        <Tabs.Tab value="fields">Fields</Tabs.Tab>
        <Tabs.Tab value="stored">Stored row</Tabs.Tab>
        <Tabs.Tab value="sent">As sent</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="fields" className={frame.panel}>
        <Fields row={row} onDevice={onDevice} />
      </Tabs.Panel>
      <Tabs.Panel value="stored" className={frame.panel}>
        <Json value={row} note="as GET /events and the exports tell it" label="Stored row" />
      </Tabs.Panel>
      <Tabs.Panel value="sent" className={frame.panel}>
        <Json value={postedEvent(row)} note="as a client posts it" label="Event as sent" />
      </Tabs.Panel>
    </Tabs>
  );
}

function Fields({ row, onDevice }: Pick<EventInspectorProps, "row" | "onDevice">) {
  const now = Date.now();
  return fieldGroups.map(({ title, names }) => (
    <section key={title} className={list.section} aria-label={title}>
      <div className={list.head}>
        <h3 className={styles.title}>{title}</h3>
        {title === "Event" && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconFilter size={13} stroke={1.5} />}
            onClick={() => onDevice(row.device_id)}
          >
            Only this device
          </Button>
        )}
      </div>
      <dl className={list.list}>
        {names.map((name) => {
          const field = eventField(row, name, now);
          return (
            <div key={name} className={list.header}>
              <dt>{name}</dt>
              <dd>
                <span className={list.value} title={field.stored === field.value ? undefined : field.stored}>
                  {name === "outcome" ? <OutcomeMark outcome={row.outcome} /> : field.value}
                </span>
                <span className={list.copy}>
                  <CopyButton text={field.stored} what={name} />
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  ));
}

function Json({ value, note, label }: { readonly value: unknown; readonly note: string; readonly label: string }) {
  const [wrap, setWrap] = useRemembered("viewer.wrap", false);
  const laidOut = useMemo(() => layOutJson(JSON.stringify(value)), [value]);
  return (
    <div className={frame.body}>
      <div className={styles.jsonHead}>
        <h3 className={styles.title}>JSON</h3>
        <span className={styles.note}>{note}</span>
        <Tooltip label={wrap ? "Do not wrap lines" : "Wrap lines"}>
          <ActionIcon aria-label="Wrap lines" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
            <IconTextWrap size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <CopyButton text={laidOut.text} what="the JSON" size={24} />
      </div>
      <TextWell label={label} laidOut={laidOut} wrap={wrap} />
    </div>
  );
}
