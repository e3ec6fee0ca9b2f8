import type { ParamsOf, ResultOf } from "../../../../../contract/operation.ts";
import { type EventFormat, type EventJob, type EventsActions, eventsActions } from "../../../../../contract/services/events.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { FailureError, failureOf } from "../../../control/failure-error.ts";
import { filePieces } from "../../../ui/copy/files.ts";

export type EventsAsk = <Name extends keyof EventsActions & string>(
  name: Name,
  params: ParamsOf<EventsActions[Name]>,
) => Promise<ResultOf<EventsActions[Name]>>;

/** The client's call, as imports need it. */
export const eventsAsk =
  (client: ControlClient): EventsAsk =>
  (name, params) =>
    client.action<EventsActions, typeof name>(eventsActions, "events", name, ...([params] as never));

/** While one piece is being stored the next ones are sent, to be stored together. */
const piecesUnderWay = 6;

export const formatOfFile = (name: string): EventFormat => (/\.csv$/i.test(name) ? "csv" : "jsonl");

/**
 * Begins the import at once; `sent` settles when the whole file was received, or the import was cancelled or failed. It rejects if no job
 * is left to report the reason, because its process has ended.
 */
export async function importFile(
  ask: EventsAsk,
  file: Pick<File, "name" | "size" | "slice">,
): Promise<{ readonly job: EventJob; readonly sent: Promise<EventJob | undefined> }> {
  const job = await ask("import.begin", { format: formatOfFile(file.name), size: file.size });
  return { job, sent: send(ask, file, job.id) };
}

async function send(ask: EventsAsk, file: Pick<File, "name" | "size" | "slice">, job: number): Promise<EventJob | undefined> {
  try {
    const underWay: Promise<unknown>[] = [];
    for await (const { text } of filePieces(file)) {
      if (underWay.length >= piecesUnderWay) await underWay.shift();
      const taken = ask("import.text", { job, text });
      underWay.push(taken);
      // It is awaited later.
      taken.catch(() => {});
    }
    await Promise.all(underWay);
    return await ask("import.end", { job });
  } catch (error) {
    // The job reports why it ended; a job without a sender must not remain.
    await ask("job.cancel", { job }).catch(() => {
      throw cutShort(file.name, error);
    });
    return undefined;
  }
}

function cutShort(name: string, error: unknown): FailureError {
  const { code, message } = failureOf(error);
  const hint = "Events imported so far are stored. Import the rest of the file, or delete them and import it again.";
  return new FailureError({ code, message: `The import of ${name} was interrupted: ${message}`, hint });
}
