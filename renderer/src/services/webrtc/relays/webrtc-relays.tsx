import type { TurnAllocationView } from "../../../../../contract/services/webrtc.ts";
import { InspectorSlot } from "../../../app/inspector-slot.tsx";
import { useService } from "../../../control/use-store.ts";
import { useSuccessive } from "../../../control/use-successive.ts";
import { CellText } from "../../../list/cells/cell-text.tsx";
import { MarkedText } from "../../../list/cells/marked-text.tsx";
import { ToneMark } from "../../../list/cells/tone-mark.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { ColumnMenu, useColumnChoice } from "../../../list/columns/column-choice.tsx";
import { DataTable } from "../../../list/data-table.tsx";
import { ListPage } from "../../../list/list-page.tsx";
import { Fact } from "../../../list/list-status.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { FilterInput } from "../../../ui/forms/filter-input.tsx";
import { ServiceStopped } from "../../../ui/services/start-service-button.tsx";
import { Loading } from "../../../ui/status/answered.tsx";
import { EmptyState, NoRows } from "../../../ui/status/empty-state.tsx";
import { EmptyPage } from "../../../ui/status/first-steps.tsx";
import { formatByteRate, formatBytes, formatCount, formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatDurationExact, isoTime } from "../../../ui/texts/time.ts";
import { Facts, StatusLine } from "../../../ui/toolbar.tsx";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { ClientLines } from "../client-lines-view.tsx";
import { FaultBadges } from "../faults/fault-badges.tsx";
import { WebrtcFaultMenu } from "../faults/webrtc-fault-menu.tsx";
import { WebrtcRow } from "../inspectors/webrtc-row.tsx";
import { usePeerName, useWebrtcView } from "../use-webrtc-view.ts";
import { type RelayRates, relayRates } from "./relay-rates.ts";
import { TotalPlots } from "./total-plots.tsx";

interface RelayRow extends TurnAllocationView {
  /** Bytes per second, since the view before. */
  readonly toRate: number;
  readonly fromRate: number;
}

const relayRow = ({ row }: RelayRow) => row;
const none = <CellText tone="quiet">–</CellText>;
const lostOf = ({ lost }: RelayRow): number => Object.values(lost).reduce((sum, count) => sum + count, 0);

/** A peer by its name, where its credentials are those of its welcome. */
function RelayUser({ row: { user, username } }: { readonly row: RelayRow }) {
  const name = usePeerName(user);
  return (
    <CellText tone="soft" mono={name === undefined} title={username}>
      {shownText(name ?? user)}
    </CellText>
  );
}

const relayColumns: readonly Column<RelayRow>[] = [
  {
    id: "relayed",
    title: "Relayed address",
    face: "mono",
    rank: 0,
    leastPx: 130,
    cell: ({ relayed, id }) => (
      <MarkedText title={relayed.join(", ")} marks={<FaultBadges target={{ kind: "relay", allocation: id }} />}>
        <code>{relayed.join(", ")}</code>
      </MarkedText>
    ),
  },
  {
    id: "user",
    title: "User",
    // An identifier of a peer.
    minSample: "MVd2u5XFlx6W",
    face: "mono",
    rank: 1,
    cell: (row) => <RelayUser row={row} />,
  },
  {
    id: "client",
    title: "Client",
    minSample: "127.0.0.1:00000",
    preferredSample: "192.168.100.100:00000",
    face: "mono",
    rank: 2,
    cell: ({ remote, software }) => (
      <CellText tone="soft" mono title={software}>
        {remote}
      </CellText>
    ),
  },
  {
    id: "over",
    title: "Over",
    minSample: "TCP",
    rank: 1,
    cell: ({ transport }) => <CellText tone="soft">{transport.toUpperCase()}</CellText>,
  },
  {
    id: "to-rate",
    title: "To peers",
    align: "end",
    minSample: "000 kB/s",
    rank: 1,
    cell: ({ toRate }) => (toRate === 0 ? none : formatByteRate(toRate)),
  },
  {
    id: "from-rate",
    title: "From peers",
    align: "end",
    minSample: "From peers",
    rank: 1,
    cell: ({ fromRate }) => (fromRate === 0 ? none : formatByteRate(fromRate)),
  },
  {
    id: "bytes",
    title: "Relayed",
    align: "end",
    minSample: "000 MB",
    rank: 2,
    cell: ({ toPeers, fromPeers }) => <CellText tone="soft">{formatBytes(toPeers.bytes + fromPeers.bytes)}</CellText>,
  },
  {
    id: "permissions",
    title: "Permissions",
    align: "end",
    minSample: "Permissions",
    rank: 3,
    cell: ({ permissions }) => (
      <CellText tone={permissions.length === 0 ? "quiet" : undefined} title={permissions.map(({ address }) => address).join(", ")}>
        {formatCount(permissions.length)}
      </CellText>
    ),
  },
  {
    id: "channels",
    title: "Channels",
    align: "end",
    minSample: "Channels",
    rank: 3,
    cell: ({ channels }) => (
      <CellText tone={channels.length === 0 ? "quiet" : undefined} title={channels.map(({ peer }) => peer).join(", ")}>
        {formatCount(channels.length)}
      </CellText>
    ),
  },
  {
    id: "lost",
    title: "Lost",
    align: "end",
    minSample: "000,000",
    rank: 2,
    cell: (row) =>
      lostOf(row) === 0 ? none : <ToneMark tone="refused" word={formatCount(lostOf(row))} title="Datagrams that were not passed on" />,
  },
  {
    id: "left",
    title: "Time left",
    align: "end",
    minSample: "00 m 00 s",
    rank: 1,
    cell: ({ leftMs, since }) => (
      <CellText tone="soft" title={`open since ${isoTime(since)}`}>
        {formatDurationExact(leftMs)}
      </CellText>
    ),
  },
];

/** The allocations of TURN, with what passes through them. */
export function WebrtcRelays() {
  const service = useService("webrtc");
  const view = useWebrtcView("allocations");
  const turn = useWebrtcView("turn");
  const peers = useWebrtcView("peers");
  const rates = useSuccessive(view, (known: RelayRates | undefined, newest) => relayRates(known, newest.allocations, performance.now()));
  const [text, setText] = useRemembered("webrtc.relays.filter", "");
  const columns = useColumnChoice("webrtc-relays", relayColumns);
  const choice = useRowChoice(relayRow);
  if (service?.status.state !== "running") return <ServiceStopped id="webrtc" text="Start the service to see its TURN relays." />;
  const needle = text.trim().toLowerCase();
  const all = view?.allocations.map((one) => {
    const { toRate = 0, fromRate = 0 } = rates?.get(one.id) ?? {};
    return { ...one, toRate, fromRate };
  });
  const nameOf = (user: string) => peers?.peers.find(({ id }) => id === user)?.name ?? "";
  const rows =
    needle === ""
      ? all
      : all?.filter(({ relayed, user, remote, transport }) =>
          `${relayed.join(" ")} ${user} ${nameOf(user)} ${remote} ${transport}`.toLowerCase().includes(needle),
        );
  const { opened } = choice;
  const errors = Object.entries(turn?.errors ?? {});
  return (
    <ListPage
      label="Relays"
      toolbarLabel="Relays"
      above={all && all.length > 0 && turn && <TotalPlots turn={turn} />}
      filter={<FilterInput width={242} placeholder="Address, user, transport" value={text} onChange={setText} />}
      tools={
        <>
          <FaultBadges target={{ kind: "turn" }} />
          <WebrtcFaultMenu target={{ kind: "turn" }} />
          <ColumnMenu all={relayColumns} choice={columns} />
        </>
      }
      status={
        <StatusLine>
          <Facts>
            {view && <Fact>{formatCountOf(view.allocations.length + view.more, "relay")}</Fact>}
            {turn && <Fact>{`${formatCount(turn.opened)} opened since the start`}</Fact>}
            {turn && <Fact>{`${formatBytes(turn.toPeers.bytes)} to peers, ${formatBytes(turn.fromPeers.bytes)} from peers`}</Fact>}
            {errors.length > 0 && (
              <Fact title="Requests that were refused, by the code of the error">
                {`refused: ${errors.map(([code, count]) => `${code} ×${formatCount(count)}`).join(", ")}`}
              </Fact>
            )}
          </Facts>
        </StatusLine>
      }
      below={
        opened && (
          <InspectorSlot shows={opened.id}>
            <WebrtcRow row={opened.id} onClose={choice.close} />
          </InspectorSlot>
        )
      }
    >
      {rows === undefined ? (
        <Loading what="the relays" />
      ) : all?.length === 0 ? (
        <EmptyPage>
          <EmptyState
            title="No relay is open"
            text="Each allocation of TURN appears here: its address, who uses it, over which transport, bytes per second, permissions, channels and the time that is left. Open one from Try with “by relay”, or by hand:"
          >
            <ClientLines first="turnutils" />
          </EmptyState>
        </EmptyPage>
      ) : (
        <DataTable
          {...choice.tableProps}
          label="Relays"
          count={rows.length}
          rowAt={(index) => rows[index]}
          columns={columns.columns}
          empty={<NoRows text="No relay matches the filter." action="Show all" onAction={() => setText("")} />}
        />
      )}
    </ListPage>
  );
}
