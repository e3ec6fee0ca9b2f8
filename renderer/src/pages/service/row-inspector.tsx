import { useState } from "react";
import type { ServiceId } from "../../../../contract/service.ts";
import type { Detail } from "../../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { HttpInspector } from "../../inspectors/http/http-inspector.tsx";
import { InspectorFrame, InspectorNote, type InspectorProps } from "../../inspectors/inspector-frame.tsx";
import { useDetail } from "../../inspectors/use-detail.ts";
import { WebSocketInspector } from "../../inspectors/websocket/websocket-inspector.tsx";
import { WebSocketMessageInspector } from "../../inspectors/websocket/websocket-message-inspector.tsx";
import { MqttEventInspector } from "../../services/mqtt/inspectors/mqtt-event-inspector.tsx";
import { MqttMessageInspector } from "../../services/mqtt/inspectors/mqtt-message-inspector.tsx";

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
  const { value: detail, failure } = useDetail(service, shown, shownLive);
  if (detail) {
    return (
      <DetailInspector
        service={service}
        detail={detail}
        live={shownLive}
        onRow={(next) => setOther({ from: row, row: next })}
        onClose={onClose}
      />
    );
  }
  return (
    <InspectorFrame title={live ? `${live.verb} ${live.target}` : "…"} mono onClose={onClose}>
      {failure && <InspectorNote isAlert>{`${failure.message} ${failure.hint}`}</InspectorNote>}
      {detail === null && <InspectorNote>No longer kept: newer rows replaced it, or the list was cleared.</InspectorNote>}
    </InspectorFrame>
  );
}

/** The inspector of each kind. A new kind is one line. */
function DetailInspector({ detail, ...props }: InspectorProps<Detail>) {
  switch (detail.kind) {
    case "http":
      return <HttpInspector {...props} detail={detail} />;
    case "websocket":
      return <WebSocketInspector {...props} detail={detail} />;
    case "websocket-message":
      return <WebSocketMessageInspector {...props} detail={detail} />;
    case "mqtt-message":
      return <MqttMessageInspector {...props} detail={detail} />;
    case "mqtt-event":
      return <MqttEventInspector {...props} detail={detail} />;
    default:
      return detail satisfies never;
  }
}
