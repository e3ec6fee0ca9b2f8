import { IconCheck, IconMinus, IconPointFilled, IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import { z } from "zod";
import { type EventColumn, type EventRow, eventColumns, samplePluginVersion } from "../../../../contract/services/events.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { SampleMark } from "../../list/cells/client-name.tsx";
import type { Column } from "../../list/columns/column.ts";
import type { ColumnChoice } from "../../list/columns/column-choice.tsx";
import { useWidthOfRows } from "../../list/columns/use-fitted-columns.ts";
import { Mark } from "../../ui/status/status-shape.tsx";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { formatTook } from "../../ui/texts/time.ts";
import { useRemembered } from "../../ui/use-remembered.ts";
import { eventTimeText } from "./event-fields.ts";

/** The id of a column is the field's name in the contract. */
export type EventTableColumn = Column<EventRow> & { readonly id: EventColumn };

const fields: Omit<EventTableColumn, "sortable" | "rank">[] = [
  {
    id: "created_at",
    title: "Time",
    minSample: "00 Mmm 0000 00:00:00",
    face: "mono",
    cell: (row) => (
      <CellText tone="quiet" mono title={row.created_at}>
        {eventTime(row)}
      </CellText>
    ),
  },
  // Without a width: it fills the rest of the row.
  {
    id: "device_id",
    title: "Device",
    cell: ({ device_id, plugin_version }) => (
      <>
        {plugin_version === samplePluginVersion && (
          <>
            <SampleMark />{" "}
          </>
        )}
        <CellText mono title={shownText(device_id)}>
          {shownText(device_id)}
        </CellText>
      </>
    ),
  },
  { id: "outcome", title: "Outcome", minSample: "accepted", besidePx: 24, cell: ({ outcome }) => <OutcomeMark outcome={outcome} /> },
  { id: "language", title: "Language", minSample: "typescriptreact", cell: ({ language }) => shownText(language) },
  { id: "provider", title: "Provider", minSample: "provider-long", cell: soft("provider") },
  { id: "file_ext", title: "File", minSample: ".tsx000", face: "mono", cell: mono("file_ext") },
  { id: "treesitter_scope", title: "Scope", minSample: "comment00", cell: soft("treesitter_scope") },
  { id: "completion_source", title: "Source", minSample: "typing", cell: soft("completion_source") },
  milliseconds("display_duration_ms", "Shown for"),
  milliseconds("time_since_last_edit_ms", "Since edit"),
  count("completion_lines", "Lines"),
  {
    id: "completion_additions",
    title: "Changed",
    align: "end",
    minSample: "+000 −000",
    face: "mono",
    cell: ({ completion_additions, completion_deletions }) => (
      <CellText tone="soft" mono>{`+${completion_additions} −${completion_deletions}`}</CellText>
    ),
  },
  ratio("predicted_edit_ratio", "Edit ratio"),
  { id: "typing_speed", title: "Typing", align: "end", minSample: "000.0/s", cell: ({ typing_speed }) => `${typing_speed.toFixed(1)}/s` },
  {
    id: "recent_actions",
    title: "Last actions",
    minSample: "IC IC IC IC IC",
    face: "mono",
    cell: ({ recent_actions }) => actions(recent_actions),
  },
  { id: "plugin_version", title: "Plugin", minSample: "00.00.00", cell: soft("plugin_version") },
  {
    id: "id",
    title: "Id",
    align: "end",
    minSample: "000,000,000",
    cell: ({ id }) => <CellText tone="quiet">{formatCount(id)}</CellText>,
  },
  {
    id: "ip_hash",
    title: "Client",
    minSample: "00000000",
    face: "mono",
    cell: ({ ip_hash }) => (
      <CellText tone="quiet" mono title={ip_hash}>
        {ip_hash.slice(0, 8)}
      </CellText>
    ),
  },
  count("prefix_length", "Prefix"),
  count("trimmed_prefix_length", "Trimmed"),
  count("line_count", "File lines"),
  ratio("relative_position", "Position"),
  yesNo("after_cursor_ws", "Space after"),
  { id: "last_char", title: "Last char", minSample: "space", face: "mono", cell: ({ last_char }) => character(last_char) },
  {
    id: "last_nonws_char",
    title: "Last non-space",
    minSample: "space",
    face: "mono",
    cell: ({ last_nonws_char }) => character(last_nonws_char),
  },
  count("indentation_level", "Indent"),
  count("completion_deletions", "Deletions"),
  yesNo("manually_triggered", "By hand"),
  count("stage_index", "Stage"),
  count("cursor_target_distance", "Cursor jump"),
  yesNo("is_prefetched", "Prefetched"),
  yesNo("has_diagnostics", "Diagnostics"),
  count("edit_count", "Edits"),
  count("completions_since_accept", "Since accept"),
];

/** In the order of the table; the last ones are hidden first if there is no room. */
export const eventTableColumns: readonly EventTableColumn[] = fields.map((field, index) => ({
  ...field,
  sortable: true,
  rank: index < 3 ? 0 : index,
}));

const firstShown: readonly EventColumn[] = fields.slice(0, 16).map(({ id }) => id);

function soft(id: "provider" | "treesitter_scope" | "completion_source" | "plugin_version") {
  return (row: EventRow) => (
    <CellText tone="soft" title={shownText(row[id])}>
      {shownText(row[id])}
    </CellText>
  );
}

function mono(id: "file_ext") {
  return (row: EventRow) => (
    <CellText tone="soft" mono>
      {shownText(row[id])}
    </CellText>
  );
}

function count(id: NumberColumn, title: string): (typeof fields)[number] {
  return { id, title, align: "end", minSample: "00,000", cell: (row) => formatCount(row[id]) };
}

function milliseconds(id: NumberColumn, title: string): (typeof fields)[number] {
  return { id, title, align: "end", minSample: "00 m 00 s", cell: (row) => (row[id] < 1_000 ? `${row[id]} ms` : formatTook(row[id])) };
}

function ratio(id: NumberColumn, title: string): (typeof fields)[number] {
  return { id, title, align: "end", minSample: "0.000", cell: (row) => <CellText tone="soft">{row[id].toFixed(2)}</CellText> };
}

function yesNo(id: NumberColumn, title: string): (typeof fields)[number] {
  return { id, title, minSample: "yes", cell: (row) => (row[id] ? "yes" : <CellText tone="quiet">no</CellText>) };
}

type NumberColumn = { [Name in EventColumn]: EventRow[Name] extends number ? Name : never }[EventColumn];

function actions(text: string) {
  const list = text.replace(/[[\]"]/g, "").replaceAll(",", " ");
  return (
    <CellText tone="soft" mono>
      {shownText(list) || "–"}
    </CellText>
  );
}

function character(value: string) {
  if (value === "") return <CellText tone="quiet">none</CellText>;
  return value.trim() === "" ? <CellText tone="quiet">{value === "\t" ? "tab" : "space"}</CellText> : shownText(value);
}

const marks: Readonly<Record<string, { readonly Icon: typeof IconCheck; readonly tone: "ok" | "warn" | "idle" }>> = {
  accepted: { Icon: IconCheck, tone: "ok" },
  rejected: { Icon: IconX, tone: "idle" },
  ignored: { Icon: IconMinus, tone: "warn" },
};

/** Its shape and its word; an outcome of an older file gets a dot. */
export function OutcomeMark({ outcome }: { readonly outcome: string }) {
  const { Icon, tone } = marks[outcome] ?? { Icon: IconPointFilled, tone: "idle" };
  return (
    <Mark tone={tone} icon={<Icon size={14} stroke={1.75} aria-hidden="true" />}>
      {shownText(outcome)}
    </Mark>
  );
}

const eventTime = ({ created_at }: EventRow): string => eventTimeText(created_at, Date.now());

/** The shown columns, which are remembered: most of the columns are hidden. */
export function useEventColumns(rows: readonly EventRow[]): ColumnChoice<EventRow> {
  const [shown, setShown] = useRemembered<readonly EventColumn[]>("shown-columns.events", firstShown, z.array(z.enum(eventColumns)));
  const choice = useMemo(() => {
    const isShown = (id: string) => shown.some((other) => other === id);
    return {
      columns: eventTableColumns.filter((column) => column.minSample === undefined || isShown(column.id)),
      isShown,
      toggle: (id: string) => setShown(isShown(id) ? shown.filter((other) => other !== id) : [...shown, id as EventColumn]),
    };
  }, [shown, setShown]);
  return { ...choice, columns: useWidthOfRows<EventRow>(choice.columns, "created_at", rows, eventTime) };
}
