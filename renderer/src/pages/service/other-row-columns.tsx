import { redactTarget } from "../../../../contract/traffic/redact-target.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { statusWord } from "../../../../contract/traffic/row-filter.ts";
import { CellText } from "../../list/cells/cell-text.tsx";
import { rowMark, ToneMark } from "../../list/cells/tone-mark.tsx";
import type { Column } from "../../list/columns/column.ts";
import { beganColumn, clientColumn } from "../../list/columns/traffic-columns.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";

/** Without a reason of its own the outcome is the reason. */
const toneWord = ({ tone }: TrafficRow): string => (tone === "aborted" ? "failed" : tone);

/** What a client asked for, and why it was refused. */
export const otherRowColumns: readonly Column<TrafficRow>[] = [
  beganColumn(1),
  {
    id: "status",
    title: "Status",
    sortBy: "status",
    minSample: "refused",
    face: "mono-bold",
    besidePx: 14,
    rank: 0,
    cell: (row) => <ToneMark tone={rowMark(row)} word={row.reason === undefined ? toneWord(row) : statusWord(row)} title={row.outcome} />,
  },
  {
    id: "asked",
    title: "Asked for",
    sortBy: "target",
    minSample: "POST /events?source=1",
    leastSample: "POST /events",
    preferredSample: "SUBSCRIBE sensors/+/temperature, sensors/+/humidity",
    face: "mono",
    rank: 0,
    cell: ({ verb, target }) => {
      const text = shownText(`${verb} ${redactTarget(target)}`);
      return (
        <CellText tone="soft" mono title={text}>
          {text}
        </CellText>
      );
    },
  },
  {
    id: "reason",
    title: "Result",
    sortBy: "reason",
    leastPx: 140,
    rank: 0,
    cell: ({ reason, outcome }) => {
      const text = shownText(reason ?? outcome);
      return <CellText title={text}>{text}</CellText>;
    },
  },
  clientColumn(2, { minSample: "127.0.0.1:00000" }),
];
