import { useEffect, useEffectEvent } from "react";
import type { ServiceId } from "../../../../contract/service.ts";

/** From one tab to another of a service: the newest value is kept until that tab is shown. */
export interface Handover<Value> {
  give(service: ServiceId, value: Value): void;
  /** The value that waits, once. */
  take(service: ServiceId): Value | undefined;
  /** Returns the function that removes the listener. */
  onGiven(listener: () => void): () => void;
}

export function createHandover<Value>(): Handover<Value> {
  const waiting = new Map<ServiceId, Value>();
  const listeners = new Set<() => void>();
  return {
    give(service, value) {
      waiting.set(service, value);
      for (const listener of [...listeners]) listener();
    },
    take(service) {
      const value = waiting.get(service);
      waiting.delete(service);
      return value;
    },
    onGiven(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Calls back for each value, including one that was given before the tab was shown. */
export function useHandover<Value>(handover: Handover<Value>, service: ServiceId, onValue: (value: Value) => void): void {
  const take = useEffectEvent(() => {
    const value = handover.take(service);
    if (value !== undefined) onValue(value);
  });
  useEffect(() => {
    take();
    return handover.onGiven(() => take());
  }, [handover]);
}

/** Rows to open in a Live tab. */
export const requestedRows = createHandover<number>();
