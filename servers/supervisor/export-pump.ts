import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExportPart } from "../../contract/export.ts";

/** Reads the part behind `after`; the first without it. */
export type PartReader = (after: string | undefined) => Promise<ExportPart>;

/** Whoever takes the export went away, or has no room: nothing is wrong with the export itself. */
export class TakerFailed extends Error {
  override readonly name = "TakerFailed";
}

/**
 * Writes an export to `to` and ends it; a part is read once the one before is taken, so no process holds more than a part or two.
 * Throws what `read` throws, TakerFailed, or the signal's reason.
 */
export async function pumpParts(options: {
  readonly read: PartReader;
  readonly to: Writable;
  readonly signal: AbortSignal;
  /** A part was taken. */
  readonly onPart: (part: ExportPart, bytes: number) => void;
}): Promise<void> {
  const { read, to, signal, onPart } = options;
  let fault: { readonly error: unknown } | undefined;

  async function readPart(after: string | undefined): Promise<ExportPart> {
    try {
      return await read(after);
    } catch (error) {
      fault = { error };
      throw error;
    }
  }
  async function* parts(): AsyncGenerator<Buffer> {
    for (let after: string | undefined, last = false; !last; ) {
      const part = await readPart(after);
      const bytes = Buffer.from(part.text);
      if (bytes.length > 0) yield bytes;
      onPart(part, bytes.length);
      after = part.next;
      last = after === undefined;
    }
  }

  try {
    await pipeline(Readable.from(parts(), { objectMode: false }), to, { signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (fault) throw fault.error;
    throw new TakerFailed((cause as Error).message, { cause });
  }
}
