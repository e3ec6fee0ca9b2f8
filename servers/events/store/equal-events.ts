import { type NewEvent, newEventColumns } from "../completion-event.ts";

/** All that an event has but its id, as one text. */
export const contentOf = (event: NewEvent): string => JSON.stringify(newEventColumns.map((column) => event[column]));

/** Counts stored rows that equal one of the given events. */
export function createEqualCounts(events: readonly NewEvent[]) {
  const counts = new Map(events.map((event) => [contentOf(event), 0]));
  return {
    times: new Set(events.map(({ created_at }) => created_at)),
    /** A row's values in the order of `newEventColumns`. */
    count(values: readonly unknown[]) {
      const content = JSON.stringify(values);
      const known = counts.get(content);
      if (known !== undefined) counts.set(content, known + 1);
    },
    result: () => events.map((event) => counts.get(contentOf(event)) ?? 0),
  };
}
