import type { EventJob } from "../../../contract/events.ts";
import type { EventsAsk } from "./import-file.ts";

/** The parts of a finished export, in order; `onShare` is told how much of it is here, 0 to 1. */
export async function readExport(
  ask: EventsAsk,
  job: Pick<EventJob, "id" | "bytes">,
  onShare: (share: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let at: number | undefined = 0;
  while (at !== undefined) {
    const part: { readonly base64: string; readonly next?: number } = await ask("export.read", { job: job.id, offset: at });
    parts.push(Uint8Array.from(atob(part.base64), (character) => character.charCodeAt(0)));
    at = part.next;
    onShare(at === undefined || job.bytes === 0 ? 1 : at / job.bytes);
  }
  return parts;
}

export const fileNameOf = (file: string): string => file.split(/[/\\]/).at(-1) ?? file;
