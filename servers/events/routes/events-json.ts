import type { EventRow } from "../../../contract/services/events.ts";

/** Bytes of a piece, which is written at once. */
const pieceBytes = 64 << 10;

interface EventsPage {
  readonly data: readonly EventRow[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** As `JSON.stringify`, an event in a step: a thousand of the largest ones are 14 MB. */
export function* eventsJson({ data, ...rest }: EventsPage): Generator<void, readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '{"data":[';
  for (const [index, event] of data.entries()) {
    text += `${index === 0 ? "" : ","}${JSON.stringify(event)}`;
    if (text.length >= pieceBytes) {
      pieces.push(Buffer.from(text));
      text = "";
    }
    yield;
  }
  pieces.push(Buffer.from(`${text}],${JSON.stringify(rest).slice(1)}`));
  return pieces;
}
