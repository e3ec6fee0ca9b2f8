import { useMemo } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailPart } from "../../../../contract/traffic/detail.ts";
import type { SseEventPart } from "../../../../contract/traffic/http.ts";
import type { Column } from "../../list/columns/column.ts";
import { timeColumn } from "../../list/columns/traffic-columns.tsx";
import { formatBytes } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { ContentViewer } from "../../viewer/content-viewer.tsx";
import { PartsList } from "../parts-list.tsx";
import { useParts } from "../use-detail.ts";

interface EventsTabProps {
  readonly service: ServiceId;
  readonly row: number;
  /** Events so far. */
  readonly total: number;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The events of a stream, as they are sent. */
export function EventsTab({ service, row, total, isOpen, onClose }: EventsTabProps) {
  const parts = useParts(service, row, total);
  return (
    <PartsList
      item="event"
      parts={parts}
      isPart={isEvent}
      columns={columns}
      content={(part) => <EventContent part={part} />}
      isOpen={isOpen}
      onClose={onClose}
    />
  );
}

const isEvent = (part: DetailPart): part is SseEventPart => part.kind === "sse-event";

const columns: readonly Column<SseEventPart>[] = [
  timeColumn(1),
  {
    id: "event",
    title: "Event",
    minSample: "message",
    face: "mono",
    rank: 2,
    cell: ({ text }) => shownText(fieldOf(text, "event")) || "message",
  },
  { id: "data", title: "Data", rank: 0, cell: ({ text }) => <code>{shownText(dataOf(text).slice(0, 200))}</code> },
  { id: "size", title: "Size", minSample: "999 kB", align: "end", rank: 3, cell: ({ bytes }) => formatBytes(bytes) },
];

/** WHATWG HTML §9.2.6: a field's name, a colon and at most one space. */
function fieldOf(block: string, name: string): string {
  const line = block.split("\n").find((one) => one.startsWith(`${name}:`));
  return line?.slice(name.length + 1).replace(/^ /, "") ?? "";
}

/** Several data lines are joined to one text. */
export const dataOf = (block: string): string =>
  block
    .split("\n")
    .filter((line) => line === "data" || line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");

function EventContent({ part }: { readonly part: SseEventPart }) {
  const { text, bytes } = part;
  const content = useMemo(() => {
    const data = new TextEncoder().encode(dataOf(text) || text);
    const missing = Math.max(0, bytes - new TextEncoder().encode(text).length);
    return { bytes: data, totalBytes: data.length + missing };
  }, [text, bytes]);
  return (
    <ContentViewer of="event" title="Data" content={content} contentType="" rememberAs="http event" emptyText="The event has no data." />
  );
}
