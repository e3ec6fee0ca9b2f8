import type { ServiceId } from "../../../../contract/service.ts";
import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { ClientName } from "../../list/cells/client-name.tsx";
import { PathText } from "../../list/cells/path-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { beganColumn, bytesColumn, tookColumn } from "../../list/columns/traffic-columns.tsx";
import { servicePages } from "../../services/registry.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { ServiceName } from "../service/service-toggles.tsx";

const shortest = (texts: readonly string[]): string =>
  texts.reduce((known, text) => (text.length < known.length ? text : known), texts[0] ?? "");
const longest = (texts: readonly string[]): string => texts.reduce((known, text) => (text.length > known.length ? text : known), "");
const pages = [...servicePages.values()];

/** A row that is open says so, or what its session does. */
function outcomeWord(row: TrafficRow): string {
  if (row.tone !== "pending") return row.outcome;
  if (rowMark(row) === "pending") return "pending";
  return row.kind === "rtsp" ? row.outcome : "open";
}

/** `titles` are those of the services that are shown. */
export const timelineColumns = (titles: ReadonlyMap<ServiceId, string>): Column<TrafficRow>[] => [
  beganColumn(0),
  {
    id: "service",
    title: "Service",
    sortBy: "service",
    minSample: longest([...titles.values()]),
    // The swatch, and room for a title with wider letters than the longest.
    besidePx: 20,
    rank: 0,
    cell: (row) => <ServiceName id={row.service}>{titles.get(row.service) ?? row.service}</ServiceName>,
  },
  {
    id: "verb",
    title: "What",
    sortBy: "verb",
    minSample: longest(pages.map((page) => page.minSample.verb)),
    rank: 1,
    cell: (row) => shownText(row.verb),
  },
  {
    id: "target",
    title: "Where",
    sortBy: "target",
    leastPx: 104,
    rank: 0,
    cell: (row, roomCh) => <PathText text={redactTarget(row.target)} roomCh={roomCh} />,
  },
  {
    id: "outcome",
    title: "Outcome",
    sortBy: "outcome",
    minSample: longest(pages.map((page) => page.minSample.outcome)),
    leastSample: shortest(pages.map((page) => page.minSample.outcome)),
    face: "mono",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={outcomeWord(row)} title={row.outcome} />,
  },
  tookColumn(3),
  bytesColumn({ id: "in", title: "In", rank: 5, of: "bytesIn" }),
  bytesColumn({ id: "out", title: "Out", rank: 4, of: "bytesOut" }),
  {
    id: "client",
    title: "Client",
    sortBy: "client",
    minSample: "python-requests",
    rank: 6,
    cell: (row) => (
      <CellText tone="soft">
        <ClientName client={row.client} />
      </CellText>
    ),
  },
];
