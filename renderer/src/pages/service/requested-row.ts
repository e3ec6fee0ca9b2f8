import { useEffect, useEffectEvent } from "react";
import type { ServiceId } from "../../../../contract/service.ts";

/** Rows that another tab asked a Live tab to open, until it takes them. */
const requested = new Map<ServiceId, number>();
const listeners = new Set<() => void>();

export function requestRow(service: ServiceId, row: number): void {
  requested.set(service, row);
  for (const listener of [...listeners]) listener();
}

/** Runs with each row that is asked for, also with one from before the list was shown. */
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
