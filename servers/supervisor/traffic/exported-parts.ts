import type { DetailPart } from "../../../contract/traffic/detail.ts";
import type { TrafficStore } from "./traffic-store.ts";

/** Of one row, in characters: further parts are counted. */
const mostText = 4 << 20;
const partsAtOnce = 200;

interface PartSource {
  readonly store: Pick<TrafficStore, "parts">;
  /** What may be shown of a part. */
  readonly shown: (part: DetailPart) => DetailPart;
  /** Called between parts; resolves in a later turn of the event loop when it is time. */
  readonly pause: () => Promise<void>;
}

interface ExportedParts {
  readonly messages: readonly DetailPart[];
  /** Messages that are not in the file: no longer kept, or beyond its bound for a row. */
  readonly messagesLeftOut?: number;
}

/** The parts of a row, such as the messages of a call, for its line in JSON Lines. */
export async function exportedParts(row: number, { store, shown, pause }: PartSource): Promise<ExportedParts | undefined> {
  const messages: DetailPart[] = [];
  let text = 0;
  let total = 0;
  for (let from = 0; text <= mostText; ) {
    const page = await store.parts(row, from, partsAtOnce);
    if (!page || page.parts.length === 0) break;
    total = page.total;
    for (const part of page.parts) {
      const message = shown(part);
      messages.push(message);
      text += JSON.stringify(message).length;
      await pause();
      if (text > mostText) break;
    }
    from = page.next;
  }
  if (messages.length === 0) return undefined;
  return { messages, ...(total > messages.length && { messagesLeftOut: total - messages.length }) };
}
