import { type EventFormat, type EventJob, type EventsActions, eventsActions } from "../../../contract/events.ts";
import type { ParamsOf, ResultOf } from "../../../contract/operation.ts";
import type { ControlClient } from "../control/control-client.ts";

export type EventsAsk = <Name extends keyof EventsActions & string>(
  name: Name,
  params: ParamsOf<EventsActions[Name]>,
) => Promise<ResultOf<EventsActions[Name]>>;

/** The client as the one thing that the imports and exports ask. */
export const eventsAsk =
  (client: ControlClient): EventsAsk =>
  (name, params) =>
    client.action<EventsActions, typeof name>(eventsActions, "events", name, ...([params] as never));

export const formatOfFile = (name: string): EventFormat => (/\.csv$/i.test(name) ? "csv" : "jsonl");

/** Each character may take six once it is escaped, and a frame of the control connection holds one mebibyte. */
const pieceBytes = 160 << 10;

/** Begins the import at once; `sent` settles when the whole file was taken, or the import was cancelled or failed. */
export async function importFile(
  ask: EventsAsk,
  file: Pick<File, "name" | "size" | "slice">,
): Promise<{ readonly job: EventJob; readonly sent: Promise<EventJob | undefined> }> {
  const job = await ask("import.begin", { format: formatOfFile(file.name) });
  return { job, sent: send(ask, file, job.id) };
}

async function send(ask: EventsAsk, file: Pick<File, "size" | "slice">, job: number): Promise<EventJob | undefined> {
  // A character that lies on the border of two pieces is put together again.
  const decoder = new TextDecoder();
  try {
    for (let at = 0; at < file.size; at += pieceBytes) {
      const bytes = await file.slice(at, at + pieceBytes).arrayBuffer();
      const text = decoder.decode(bytes, { stream: at + pieceBytes < file.size });
      if (text !== "") await ask("import.text", { job, text });
    }
    return await ask("import.end", { job });
  } catch {
    // The job tells why it ended; one that nobody feeds any more must not stay.
    await ask("job.cancel", { job }).catch(() => {});
    return undefined;
  }
}
