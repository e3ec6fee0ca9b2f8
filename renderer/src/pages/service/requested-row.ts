import { useEffect, useEffectEvent } from "react";
import type { ServiceId } from "../../../../contract/service.ts";

/** Rows that another tab has requested to be opened in a Live tab, until that opens them. */
const requested = new Map<ServiceId, number>();
const listeners = new Set<() => void>();

export function requestRow(service: ServiceId, row: number): void {
  requested.set(service, row);
  for (const listener of [...listeners]) listener();
}

/** Calls back for each requested row, including one requested before the list was shown. */
export function useRequestedRow(service: ServiceId, onRow: (row: number) => void): void {
  const take = useEffectEvent(() => {
    const row = requested.get(service);
    if (row === undefined) return;
    requested.delete(service);
    onRow(row);
  });
  useEffect(() => {
    take();
    const listener = () => take();
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
}
