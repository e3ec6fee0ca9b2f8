import { useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorFrame } from "../../inspectors/inspector-frame.tsx";
import { KindInspector } from "../../inspectors/kind-inspector.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { servicePages } from "../../services/registry.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { NotKept } from "./not-kept.tsx";

interface RowInspectorProps {
  readonly service: ServiceId;
  /** `TrafficRow.id` */
  readonly row: number;
  /** The row as the list has it, while it has it. */
  readonly live: TrafficRow | undefined;
  /** The row as it was when it was opened, if it was opened from a list. */
  readonly opened: TrafficRow | undefined;
  readonly onClose: () => void;
}

/** One row of any service in full, in the column beside the list, by the kind of its detail. */
export function RowInspector({ service, row, live, opened, onClose }: RowInspectorProps) {
  const [other, setOther] = useState<{ readonly from: number; readonly row: number }>();
  const shown = other?.from === row ? other.row : row;
  const shownLive = shown === row ? live : undefined;
  const answer = useDetail(service, shown, shownLive);
  const known = shown === row ? (live ?? opened) : undefined;
  const at = known?.at;
  // A Backlot that was started again numbers its rows from the start: another row may have the same number.
  const read = at === undefined || answer.value?.row.at === at ? answer.value : null;
  const inspectors = servicePages.get(service)?.inspectors;
  if (read && inspectors) {
    return (
      <KindInspector
        inspectors={inspectors}
        kind={read.detail.kind}
        detail={read.detail}
        row={shownLive?.id === read.row.id ? shownLive : read.row}
        onRow={(next) => setOther({ from: row, row: next })}
        onClose={onClose}
      />
    );
  }
  return (
    <InspectorFrame title={known ? `${known.verb} ${known.target}` : "…"} mono onClose={onClose}>
      <Answered answer={answer} what="the details" compact>
        {() => <NotKept at={at} />}
      </Answered>
    </InspectorFrame>
  );
}
