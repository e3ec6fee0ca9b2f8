import { createElement, useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { DetailKind } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { InspectorFrame, InspectorNote, type InspectorProps, type Inspectors } from "../../inspectors/inspector-frame.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { servicePages } from "../../services/registry.ts";
import { Answered } from "../../ui/status/answered.tsx";

interface RowInspectorProps {
  readonly service: ServiceId;
  /** `TrafficRow.id` */
  readonly row: number;
  /** The row as the list has it, while it has it. */
  readonly live: TrafficRow | undefined;
  readonly onClose: () => void;
}

/** One row of any service in full, in the column beside the list, by the kind of its detail. */
export function RowInspector({ service, row, live, onClose }: RowInspectorProps) {
  const [other, setOther] = useState<{ readonly from: number; readonly row: number }>();
  const shown = other?.from === row ? other.row : row;
  const shownLive = shown === row ? live : undefined;
  const answer = useDetail(service, shown, shownLive);
  const { value: read } = answer;
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
    <InspectorFrame title={live ? `${live.verb} ${live.target}` : "…"} mono onClose={onClose}>
      <Answered answer={answer} what="the details" compact>
        {() => <InspectorNote>No longer kept: newer rows replaced it, or the list was cleared.</InspectorNote>}
      </Answered>
    </InspectorFrame>
  );
}

interface KindInspectorProps<Kind extends DetailKind> extends InspectorProps<Kind> {
  readonly inspectors: Inspectors;
  readonly kind: Kind;
}

/** `createElement`, since JSX has no type for a component of any kind. */
function KindInspector<Kind extends DetailKind>({ inspectors, kind, ...props }: KindInspectorProps<Kind>) {
  const Inspector = inspectors[kind];
  return Inspector && createElement<InspectorProps<Kind>>(Inspector, props);
}
