import { useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { hashOf } from "../../app/route.ts";
import { InspectorFrame, InspectorNote, type Inspectors } from "../../inspectors/inspector-frame.tsx";
import { KindInspector } from "../../inspectors/kind-inspector.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { Answered } from "../../ui/status/answered.tsx";
import { clockSeconds } from "../../ui/texts/time.ts";
import { useAppInfo } from "../settings/about.tsx";

export interface RowDetailsProps {
  readonly service: ServiceId;
  /** `TrafficRow.id` */
  readonly row: number;
  /** The row as the list has it, while it has it. */
  readonly live: TrafficRow | undefined;
  /** The row as it was when it was opened, if it was opened from a list. */
  readonly opened: TrafficRow | undefined;
  readonly inspectors: Inspectors | undefined;
  readonly onClose: () => void;
}

/** One row in full, by the kind of its detail. */
export function RowDetails({ service, row, live, opened, inspectors, onClose }: RowDetailsProps) {
  const [other, setOther] = useState<{ readonly from: number; readonly row: number }>();
  const shown = other?.from === row ? other.row : row;
  const shownLive = shown === row ? live : undefined;
  const answer = useDetail(service, shown, shownLive);
  const known = shown === row ? (live ?? opened) : undefined;
  const at = known?.at;
  // A Backlot that was started again numbers its rows from the start: another row may have the same number.
  const read = at === undefined || answer.value?.row.at === at ? answer.value : null;
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

/** Why there are no details of a row, and what to do. */
function NotKept({ at }: { readonly at: number | undefined }) {
  const { value: info } = useAppInfo();
  if (info && at !== undefined && at < info.startedAt) {
    return (
      <InspectorNote>
        {`Recorded before Backlot was started again, at ${clockSeconds(info.startedAt)}. Traffic is kept in memory only, so the details of this row are gone. If the list is paused, resume it to see newer rows. To keep rows over a restart, export them.`}
      </InspectorNote>
    );
  }
  return (
    <InspectorNote>
      No longer kept: newer rows replaced it, or the list was cleared. How many rows are kept is set in{" "}
      <a href={hashOf({ page: "settings" })}>Settings</a>.
    </InspectorNote>
  );
}
