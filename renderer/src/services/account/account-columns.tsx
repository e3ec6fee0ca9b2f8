import { refusalWords } from "../../../../contract/traffic/refusal-words.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import type { Column } from "../../list/columns/column.ts";
import { shownText } from "../../ui/texts/shown-text.ts";

const user: Column<TrafficRow> = {
  id: "user",
  title: "User",
  sortBy: "user",
  minSample: "billing@example.org",
  leastSample: "api@example.com",
  preferredSample: "somebody.else@a-company.example.org",
  rank: 2,
  cell: (row) =>
    row.user === undefined ? <CellText tone="quiet">–</CellText> : <span title={shownText(row.user)}>{shownText(row.user)}</span>,
};

const reason: Column<TrafficRow> = {
  id: "reason",
  title: "Refused because",
  sortBy: "reason",
  minSample: "wrong user or password",
  leastSample: "Refused because",
  preferredSample: "field not known: companyregistrationnumber",
  rank: 0,
  cell: (row) =>
    row.reason !== undefined && (
      <CellText tone="soft" title={shownText(row.reason)}>
        {shownText(refusalWords(row.reason))}
      </CellText>
    ),
};

/** The columns of HTTP, with the user and the reason of a refusal. */
export const accountColumns = (httpColumns: readonly Column<TrafficRow>[]): readonly Column<TrafficRow>[] =>
  httpColumns.flatMap((column) => {
    switch (column.id) {
      case "path":
        return [{ ...column, leastPx: 104 }, user];
      case "status":
        return [column, reason];
      case "took":
        return [{ ...column, rank: 3 }];
      case "size":
        return [{ ...column, rank: 5 }];
      case "client":
        return [{ ...column, minSample: "python-requests :00000" }];
      default:
        return [column];
    }
  });
