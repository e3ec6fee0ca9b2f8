import type { TrafficRow } from "../../../../contract/traffic/row.ts";
import { useService } from "../../control/use-store.ts";
import { ExchangeInspector } from "../../inspectors/http/exchange-inspector.tsx";

export interface RowInspectorProps {
  readonly row: TrafficRow;
  onClose(): void;
}

/** For every service whose rows are HTTP exchanges. */
export function HttpRowInspector({ row, onClose }: RowInspectorProps) {
  const service = useService(row.service);
  const endpoints = service?.status.state === "running" ? service.status.endpoints : service?.plannedEndpoints;
  return (
    <ExchangeInspector
      service={row.service}
      row={row.id}
      live={row}
      origin={(endpoints?.[0]?.url ?? "").replace(/\/$/, "")}
      onClose={onClose}
    />
  );
}
