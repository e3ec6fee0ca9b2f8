import type { ServiceId } from "../../../contract/service.ts";

/** Clearing and its undo can be asked for anywhere in the window; every list of the service's rows then reads anew. */
const listeners = new Set<(id: ServiceId) => void>();

export function announceReplaced(id: ServiceId): void {
  for (const listener of [...listeners]) listener(id);
}

export function onReplaced(listener: (id: ServiceId) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
