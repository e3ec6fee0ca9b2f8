import type { EventRow } from "../../../contract/services/events.ts";

interface EventsPage {
  readonly data: readonly EventRow[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** As `JSON.stringify`, each event by itself: a thousand of the largest ones are 14 MB. */
export function* eventsJson({ data, ...rest }: EventsPage): Generator<string, void> {
  for (const [index, event] of data.entries()) yield `${index === 0 ? '{"data":[' : ","}${JSON.stringify(event)}`;
  yield `${data.length === 0 ? '{"data":[' : ""}],${JSON.stringify(rest).slice(1)}`;
}
