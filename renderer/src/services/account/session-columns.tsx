import type { AccountSession } from "../../../../contract/services/account.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import type { Column } from "../../list/columns/column.ts";
import { formatCount } from "../../ui/texts/quantity.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { dateTime, formatAgo, isoTime } from "../../ui/texts/time.ts";
import { StateMark } from "./state-mark.tsx";

export const began = ({ startedAt }: AccountSession): string => dateTime(startedAt, Date.now());

export const sessionColumns: readonly Column<AccountSession>[] = [
  {
    id: "started",
    title: "Began",
    minSample: "00 Mmm 00:00:00",
    face: "mono",
    rank: 1,
    cell: (session) => (
      <CellText tone="soft" mono title={isoTime(session.startedAt)}>
        {began(session)}
      </CellText>
    ),
  },
  { id: "user", title: "User", rank: 0, cell: ({ email }) => <span title={shownText(email)}>{shownText(email)}</span> },
  {
    id: "state",
    title: "State",
    minSample: "waiting for code",
    besidePx: 16,
    rank: 0,
    cell: ({ state, ended }) => <StateMark state={state} title={ended} />,
  },
  {
    id: "ended",
    title: "Ended because",
    minSample: "refresh token used twice",
    preferredSample: "ended from the dashboard, as asked",
    rank: 3,
    cell: ({ ended }) => (
      <CellText tone="soft" title={ended}>
        {ended}
      </CellText>
    ),
  },
  {
    id: "tokens",
    title: "Live tokens",
    align: "end",
    minSample: "Live tokens",
    rank: 2,
    cell: ({ liveTokens }) => (liveTokens === 0 ? <CellText tone="quiet">–</CellText> : formatCount(liveTokens)),
  },
  {
    id: "used",
    title: "Last used",
    minSample: "00 h 00 m ago",
    rank: 2,
    cell: ({ usedAt }) =>
      usedAt === undefined ? (
        <CellText tone="quiet">–</CellText>
      ) : (
        <CellText tone="soft" title={isoTime(usedAt)}>
          {formatAgo(Date.now() - usedAt)}
        </CellText>
      ),
  },
  {
    id: "client",
    title: "Client",
    minSample: "python-requests",
    preferredSample: "Apache-HttpClient/UNAVAILABLE",
    rank: 4,
    cell: ({ client, address }) => (
      <CellText tone="soft" title={address}>
        {shownText(client) || "–"}
      </CellText>
    ),
  },
  {
    id: "address",
    title: "Address",
    minSample: "000.000.000.000",
    face: "mono",
    rank: 5,
    cell: ({ address }) => (
      <CellText tone="soft" mono>
        {address}
      </CellText>
    ),
  },
];
