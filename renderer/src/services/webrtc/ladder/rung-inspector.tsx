import { useState } from "react";
import type { LadderSignal } from "../../../../../contract/services/webrtc-signals.ts";
import { InspectorFrame, InspectorPanel } from "../../../inspectors/inspector-frame.tsx";
import type { Column } from "../../../list/columns/column.ts";
import { DataTable } from "../../../list/data-table.tsx";
import { useRowChoice } from "../../../list/use-row-choice.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../../ui/texts/time.ts";
import { WebrtcRow } from "../inspectors/webrtc-row.tsx";
import type { PeerLabels } from "../peer-labels.ts";
import styles from "./ladder.module.css";
import { peerName, rungSummary, rungTitle } from "./ladder-columns.tsx";
import type { Rung } from "./lay-out-ladder.ts";

const signalRow = ({ row }: LadderSignal) => row;

const columns: readonly Column<LadderSignal>[] = [
  {
    id: "time",
    title: "Time",
    minSample: "00:00:00.000",
    face: "mono",
    rank: 1,
    cell: ({ at }) => <time title={isoTime(at)}>{clockTime(at)}</time>,
  },
  { id: "candidate", title: "Candidate", face: "mono", rank: 0, cell: ({ summary }) => <code>{shownText(summary)}</code> },
];

interface RungInspectorProps {
  readonly rung: Rung;
  readonly names: PeerLabels;
  readonly onClose: () => void;
}

/** Several candidates that are one arrow; Enter opens one of them. */
export function RungInspector({ rung, names, onClose }: RungInspectorProps) {
  const choice = useRowChoice(signalRow);
  const [opened, setOpened] = useState<{ readonly of: number; readonly row: number }>();
  const { signals, row } = rung;
  const [first] = signals;
  if (opened?.of === row) return <WebrtcRow row={opened.row} onClose={() => setOpened(undefined)} />;
  const title = `${peerName(first?.from ?? "", names)} → ${first?.to === undefined ? "room" : peerName(first.to, names)}`;
  return (
    <InspectorFrame title={`${title}: ${rungTitle(rung)}`} hint={rungSummary(rung)} onClose={onClose}>
      <InspectorPanel label="Candidates" className={styles.run}>
        <DataTable
          {...choice.tableProps}
          onOpen={(signal) => setOpened({ of: row, row: signal.row })}
          onClose={onClose}
          label="Candidates, in their order"
          count={signals.length}
          rowAt={(index) => signals[index]}
          columns={columns}
        />
      </InspectorPanel>
    </InspectorFrame>
  );
}
