import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import {
  inRooms,
  turnRequestTarget,
  turnUser,
  webrtcKindWords,
  webrtcSender,
  webrtcSubject,
} from "../../../../contract/traffic/webrtc-words.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { MarkedText } from "../../list/cells/marked-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { beganColumn, bytesColumn, clientColumn, tookColumn } from "../../list/columns/traffic-columns.tsx";
import type { TrafficPicksProps } from "../../pages/service/define-service-page.ts";
import { type Choice, PickFilter } from "../../ui/forms/pick-filter.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { FaultBadges } from "./faults/fault-badges.tsx";
import { NamedPeer } from "./named-peer.tsx";
import { usePeerName, useWebrtcView } from "./use-webrtc-view.ts";

/** Scopes of the filter over rows. */
export const webrtcScopes = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "refused", label: "Refused" },
  { value: "failed", label: "Failed" },
] as const;

const kindChoices: readonly Choice[] = Object.entries(webrtcKindWords).map(([value, label]) => ({ value, label }));

/** Rows of one kind. */
export const WebrtcPicks = ({ filter, onFilter }: TrafficPicksProps) => (
  <PickFilter
    service="webrtc"
    title="Kind"
    value={filter.ofKind}
    onChange={(ofKind) => onFilter({ ...filter, ofKind })}
    choices={async () => kindChoices}
    shown={(kind) => webrtcKindWords[kind as DetailKind] ?? kind}
    widthPx={140}
  />
);

/** Who sent it, by its name where that is known. */
function Sender({ row }: { readonly row: TrafficRow }) {
  const { user = "", peerName } = row;
  const ofCredentials = turnUser(row);
  const shownName = usePeerName(peerName === undefined ? ofCredentials : undefined);
  const text = webrtcSender(row, ofCredentials === undefined ? undefined : (peerName ?? shownName));
  return (
    <CellText tone={text === "" ? "quiet" : "soft"} mono={text !== "" && text === ofCredentials} title={user || text}>
      {shownText(text) || "–"}
    </CellText>
  );
}

/** The receiver of a signal by its name, where that is known. */
function Target({ row }: { readonly row: TrafficRow }) {
  const { kind, target, peerName } = row;
  const isPeer = kind === "webrtc-signal" && target !== "" && !target.startsWith("#");
  const shownName = usePeerName(isPeer && peerName === undefined ? target : undefined);
  const name = isPeer ? (peerName ?? shownName) : undefined;
  if (kind === "turn-request") return <CellText tone="quiet">{shownText(turnRequestTarget(row))}</CellText>;
  return <NamedPeer name={name ?? ""} id={target} />;
}

/** These take no time that could be measured. */
const momentary: ReadonlySet<DetailKind> = new Set<DetailKind>(["webrtc-signal", "turn-request"]);
const lastedColumn = tookColumn(3);

/** The active faults of a connected peer, or of an open relay. */
function RowFaults({ row }: { readonly row: TrafficRow }) {
  switch (row.kind) {
    case "webrtc-peer":
      return <FaultBadges target={{ kind: "peer", peer: row.target, name: row.user ?? "" }} />;
    case "turn-allocation":
      return <RelayFaults row={row.id} />;
    default:
      return null;
  }
}

function RelayFaults({ row }: { readonly row: number }) {
  const allocation = useWebrtcView("allocations", ({ allocations }) => allocations.find((one) => one.row === row)?.id);
  return allocation === undefined ? null : <FaultBadges target={{ kind: "relay", allocation }} />;
}

export const webrtcColumns: readonly Column<TrafficRow>[] = [
  beganColumn(1),
  {
    id: "kind",
    title: "Kind",
    sortBy: "kind",
    minSample: "STUN, TURN",
    rank: 2,
    cell: ({ kind }) => <CellText tone="quiet">{webrtcKindWords[kind] ?? kind}</CellText>,
  },
  {
    id: "verb",
    title: "What",
    sortBy: "verb",
    minSample: "create permission",
    leastSample: "candidate",
    rank: 0,
    cell: (row) => <CellText strong>{shownText(webrtcSubject(row))}</CellText>,
  },
  {
    id: "from",
    title: "From",
    sortBy: "user",
    minSample: "MVd2u5XFlx6W",
    face: "mono",
    rank: 2,
    cell: (row) => <Sender row={row} />,
  },
  {
    id: "target",
    title: "To",
    sortBy: "target",
    face: "mono",
    leastPx: 104,
    rank: 0,
    cell: (row) => {
      const target = (
        <>
          <Target row={row} />{" "}
          {row.kind === "webrtc-peer" && row.preview !== "" && <CellText tone="quiet">{shownText(inRooms(row.preview))}</CellText>}
        </>
      );
      if (row.tone !== "pending" || (row.kind !== "webrtc-peer" && row.kind !== "turn-allocation")) return target;
      return <MarkedText marks={<RowFaults row={row} />}>{target}</MarkedText>;
    },
  },
  {
    id: "state",
    title: "Result",
    sortBy: "outcome",
    minSample: "closed on request",
    preferredSample: "refreshed with lifetime 0",
    face: "mono",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={row.outcome || "open"} title={row.reason ?? row.outcome} />,
  },
  bytesColumn({ id: "received", title: "Received", rank: 3, of: "bytesIn" }),
  bytesColumn({ id: "sent", title: "Sent", rank: 4, of: "bytesOut" }),
  {
    ...lastedColumn,
    title: "Lasted",
    cell: (row, roomCh) => (momentary.has(row.kind) ? <CellText tone="quiet">–</CellText> : lastedColumn.cell(row, roomCh)),
  },
  clientColumn(3, { minSample: "Chromium :00000", preferredSample: "Backlot-sample :00000" }),
];
