import { hash } from "node:crypto";
import type { NewEvent } from "../completion-event.ts";
import { contentOf } from "../store/equal-events.ts";
import type { EventStore } from "../store/event-store.ts";

/** Contents that are remembered. Equal lines of an export are near each other: they have the same time. */
const mostContents = 50_000;

export interface KnownEvents {
  /** The events that were not stored before the import began. Of equal ones as many are left out as were stored. */
  unknownOf(events: readonly NewEvent[]): Promise<NewEvent[]>;
}

/**
 * An event has no identity but its values: an import gives new ids, and clients may send the same event several times in a second.
 * Events that this import stores are not compared, so that a file with equal events is stored whole.
 */
export function createKnownEvents(store: Pick<EventStore, "newestId" | "countEqual">): KnownEvents {
  let upTo: number | undefined;
  /** How many of the stored events with this content no line has matched so far. */
  const left = new Map<string, number>();

  return {
    async unknownOf(events) {
      upTo ??= await store.newestId();
      if (upTo === 0) return [...events];
      if (left.size > mostContents) left.clear();
      const keyed = events.map((event) => ({ event, key: hash("sha256", contentOf(event), "base64") }));
      const first = keyed.filter(({ key }) => !left.has(key));
      const counts = await store.countEqual(
        first.map(({ event }) => event),
        upTo,
      );
      for (const [index, { key }] of first.entries()) left.set(key, counts[index] ?? 0);
      const unknown = keyed.filter(({ key }) => {
        const stored = left.get(key) ?? 0;
        if (stored > 0) left.set(key, stored - 1);
        return stored === 0;
      });
      return unknown.map(({ event }) => event);
    },
  };
}
