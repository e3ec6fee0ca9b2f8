import { ActionIcon, Button } from "@mantine/core";
import { IconFilter, IconTextWrap } from "@tabler/icons-react";
import { useMemo } from "react";
import type { EventRow } from "../../../../contract/services/events.ts";
import { CopyMenu } from "../../inspectors/copy-menu.tsx";
import { httpCopies } from "../../inspectors/http/copy-as.ts";
import { InspectorContent, InspectorFrame, InspectorTabs } from "../../inspectors/inspector-frame.tsx";
import { FieldRow, FieldRows, Section } from "../../inspectors/section.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { Caption, SectionTitle } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { TextWell } from "../../viewer/content-well.tsx";
import { layOutJson } from "../../viewer/layout/json-layout.ts";
import { OutcomeMark } from "./event-columns.tsx";
import { eventField, fieldGroups } from "./event-fields.ts";
import styles from "./event-inspector.module.css";
import { postedEvent, replayOfEvent } from "./posted-event.ts";

interface EventInspectorProps {
  readonly row: EventRow;
  readonly origin: string;
  readonly onDevice: (device: string) => void;
  readonly onClose: () => void;
}

/** One event, every field of it, and the request that would store it again. */
export function EventInspector({ row, origin, onDevice, onClose }: EventInspectorProps) {
  const copies = useMemo(() => httpCopies(replayOfEvent(row, origin)), [row, origin]);
  return (
    <InspectorFrame
      title={`Event ${formatCount(row.id)}`}
      mark={<OutcomeMark outcome={row.outcome} />}
      actions={<CopyMenu rememberAs="copy-as" choices={copies} />}
      onClose={onClose}
    >
      <InspectorTabs
        rememberAs="events.inspector.tab"
        tabs={[
          { name: "fields", title: "Fields", content: <Fields row={row} onDevice={onDevice} /> },
          {
            name: "stored",
            title: "Stored row",
            content: <Json value={row} note="as GET /events and the exports write it" label="Stored row" />,
          },
          { name: "sent", title: "As sent", content: <Json value={postedEvent(row)} note="as a client posts it" label="Event as sent" /> },
        ]}
      />
    </InspectorFrame>
  );
}

function Fields({ row, onDevice }: Pick<EventInspectorProps, "row" | "onDevice">) {
  const now = Date.now();
  return fieldGroups.map(({ title, names }) => (
    <Section
      key={title}
      title={title}
      actions={
        title === "Event" && (
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconFilter size={13} stroke={1.5} />}
            onClick={() => onDevice(row.device_id)}
          >
            Only this device
          </Button>
        )
      }
    >
      <FieldRows>
        {names.map((name) => {
          const field = eventField(row, name, now);
          return (
            <FieldRow key={name} name={name} copied={field.stored} title={field.stored === field.value ? undefined : field.stored}>
              {name === "outcome" ? <OutcomeMark outcome={row.outcome} /> : field.value}
            </FieldRow>
          );
        })}
      </FieldRows>
    </Section>
  ));
}

function Json({ value, note, label }: { readonly value: unknown; readonly note: string; readonly label: string }) {
  const [wrap, setWrap] = useRemembered("viewer.wrap", false);
  const laidOut = useMemo(() => layOutJson(JSON.stringify(value)), [value]);
  return (
    <InspectorContent>
      <div className={styles.jsonHead}>
        <SectionTitle as="h3">JSON</SectionTitle>
        <Caption grow>{note}</Caption>
        <Tooltip label={wrap ? "Do not wrap lines" : "Wrap lines"}>
          <ActionIcon aria-label="Wrap lines" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
            <IconTextWrap size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
        <CopyButton text={laidOut.text} what="the JSON" />
      </div>
      <TextWell label={label} laidOut={laidOut} wrap={wrap} />
    </InspectorContent>
  );
}
