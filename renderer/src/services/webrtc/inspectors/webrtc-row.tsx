import { createElement, useState } from "react";
import type { DetailKind } from "../../../../../contract/traffic/detail.ts";
import { httpInspectors } from "../../../inspectors/http-inspectors.ts";
import { InspectorFrame, InspectorNote, type InspectorProps, type Inspectors } from "../../../inspectors/inspector-frame.tsx";
import { useDetail } from "../../../inspectors/use-detail.ts";
import { Answered } from "../../../ui/status/answered.tsx";
import { MediaInspector } from "../media/media-inspector.tsx";
import { AllocationInspector } from "./allocation-inspector.tsx";

import { PeerInspector } from "./peer-inspector.tsx";
import { SignalInspector } from "./signal-inspector.tsx";
import { TurnRequestInspector } from "./turn-request-inspector.tsx";

/** Of the kinds that the service records. */
export const webrtcInspectors: Inspectors = {
  ...(httpInspectors.http && { http: httpInspectors.http }),
  "webrtc-peer": PeerInspector,
  "webrtc-signal": SignalInspector,
  "webrtc-media": MediaInspector,
  "turn-request": TurnRequestInspector,
  "turn-allocation": AllocationInspector,
};

interface WebrtcRowProps {
  /** `TrafficRow.id` */
  readonly row: number;
  readonly onClose: () => void;
}

/** A row that another tab than Live has opened. */
export function WebrtcRow({ row, onClose }: WebrtcRowProps) {
  const [other, setOther] = useState<{ readonly from: number; readonly row: number }>();
  const shown = other?.from === row ? other.row : row;
  const answer = useDetail("webrtc", shown, undefined);
  if (answer.value) {
    const { row: read, detail } = answer.value;
    return <OfKind kind={detail.kind} row={read} detail={detail} onRow={(next) => setOther({ from: row, row: next })} onClose={onClose} />;
  }
  return (
    <InspectorFrame title="…" onClose={onClose}>
      <Answered answer={answer} what="the details" compact>
        {() => <InspectorNote>No longer kept: newer rows replaced it, or the list was cleared.</InspectorNote>}
      </Answered>
    </InspectorFrame>
  );
}

/** `createElement`, since JSX has no type for a component of any kind. */
function OfKind<Kind extends DetailKind>({ kind, ...props }: InspectorProps<Kind> & { readonly kind: Kind }) {
  const Inspector = webrtcInspectors[kind];
  return Inspector && createElement<InspectorProps<Kind>>(Inspector, props);
}
