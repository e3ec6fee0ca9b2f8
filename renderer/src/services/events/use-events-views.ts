import { useState } from "react";
import type { EventsViews } from "../../../../contract/services/events.ts";
import { useTopic } from "../../control/use-store.ts";

const nothingYet: Partial<EventsViews> = {};

/** The service's own views, the newest of each; a view that it has not told yet is absent. */
export function useEventsViews(): Partial<EventsViews> {
  const [views, setViews] = useState(nothingYet);
  useTopic("view/events", ({ items }) =>
    setViews((known) => ({ ...known, ...Object.fromEntries(items.map(({ name, value }) => [name, value])) })),
  );
  return views;
}
