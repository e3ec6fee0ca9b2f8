import type { ServiceId } from "../../../../contract/service.ts";
import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { useService } from "../../control/use-store.ts";
import { ExchangeInspector } from "../../inspectors/http/exchange-inspector.tsx";
import { servicePages } from "../../services/registry.ts";
import { originOf } from "../../ui/address.ts";
import { OutlineInspector } from "./outline-inspector.tsx";

export interface RowInspectorProps {
  readonly service: ServiceId;
  /** `TrafficRow.id` */
  readonly row: number;
  /** The row as the list has it, while it has it. */
  readonly live: TrafficRow | undefined;
  readonly onClose: () => void;
}

/** One row of any service in full, in the column beside the list. */
export function RowInspector(props: RowInspectorProps) {
  const service = useService(props.service);
  if (servicePages.get(props.service)?.details !== "http") return <OutlineInspector {...props} />;
  return <ExchangeInspector {...props} origin={originOf(service)} />;
}
