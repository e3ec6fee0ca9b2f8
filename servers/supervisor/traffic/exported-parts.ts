import type { DetailPart, DetailPartPage } from "../../../contract/traffic/detail.ts";
import type { TrafficStore } from "./traffic-store.ts";

/** Of one row in a file, in characters: further parts are counted. */
export const mostPartText = 4 << 20;
const partsAtOnce = 200;

/** The kept parts of a row, in their order. */
export async function* partPages(store: Pick<TrafficStore, "parts">, row: number): AsyncGenerator<DetailPartPage> {
  for (let from = 0; ; ) {
    const page = await store.parts(row, from, partsAtOnce);
    if (!page || page.parts.length === 0) return;
    yield page;
    from = page.next;
  }
}

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
  for await (const page of partPages(store, row)) {
    total = page.total;
    for (const part of page.parts) {
      const message = shown(part);
      messages.push(message);
      text += JSON.stringify(message).length;
      await pause();
      if (text > mostPartText) break;
    }
    if (text > mostPartText) break;
  }
  if (messages.length === 0) return undefined;
  return { messages, ...(total > messages.length && { messagesLeftOut: total - messages.length }) };
}
