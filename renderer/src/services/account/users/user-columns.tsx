import type { AccountUser } from "../../../../../contract/services/account.ts";
import { CellText } from "../../../list/cells/cell-text.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { isoTime } from "../../../ui/texts/time.ts";
import { StateMark, userState } from "../state-mark.tsx";
import { apiTime, wallTime } from "../wall-time.ts";
import { formatShift } from "./clock-shift.ts";

const none = <CellText tone="quiet">–</CellText>;

export const userColumns: readonly Column<AccountUser>[] = [
  {
    id: "email",
    title: "E-mail",
    minSample: "somebody@example.com",
    preferredSample: "somebody.else@a-company.example.org",
    rank: 0,
    cell: (user) => <span title={shownText(user.email)}>{shownText(user.email)}</span>,
  },
  {
    id: "name",
    title: "Name",
    minSample: "A usual name",
    preferredSample: "A name of more than usual length",
    rank: 2,
    cell: ({ name }) => (
      <CellText tone="soft" title={shownText(name)}>
        {shownText(name) || "–"}
      </CellText>
    ),
  },
  { id: "state", title: "State", minSample: "disabled", besidePx: 16, rank: 0, cell: (user) => <StateMark state={userState(user)} /> },
  {
    id: "factor",
    title: "Second factor",
    minSample: "Second factor",
    rank: 1,
    cell: ({ secondFactor }) => (secondFactor ? "code" : none),
  },
  {
    id: "clock",
    title: "Clock",
    minSample: "+3650 d 23 h",
    rank: 1,
    cell: ({ clockShiftSeconds }) =>
      clockShiftSeconds === 0 ? (
        <CellText tone="quiet">{formatShift(0)}</CellText>
      ) : (
        <CellText tone="warn">{formatShift(clockShiftSeconds)}</CellText>
      ),
  },
  {
    id: "sessions",
    title: "Sessions",
    align: "end",
    minSample: "Sessions",
    rank: 1,
    cell: ({ liveSessions }) => (liveSessions === 0 ? none : liveSessions),
  },
  { id: "zones", title: "Zones", align: "end", minSample: "Zones", rank: 4, cell: ({ zones }) => (zones === 0 ? none : zones) },
  {
    id: "login",
    title: "Last login",
    minSample: "0000-00-00 00:00:00",
    face: "mono",
    rank: 3,
    cell: ({ lastLogin }) => <LastLogin of={lastLogin} />,
  },
  {
    id: "from",
    title: "From",
    minSample: "000.000.000.000",
    face: "mono",
    rank: 5,
    cell: ({ lastAddress }) => (
      <CellText tone="soft" mono>
        {lastAddress || "–"}
      </CellText>
    ),
  },
];

/** When a user last logged in, in local time; the API gives it to the second. */
export function LastLogin({ of }: { readonly of: string }) {
  const at = apiTime(of);
  if (at === undefined) return <CellText tone="quiet">never</CellText>;
  return (
    <CellText tone="soft" mono title={isoTime(at)}>
      {wallTime(at)}
    </CellText>
  );
}
