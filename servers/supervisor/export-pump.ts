import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExportPart } from "../../contract/export.ts";

/** Reads the part after `after`; the first one without it. */
export type PartReader = (after: string | undefined) => Promise<ExportPart>;

/** The receiver of the export disconnected or has no room: the export itself did not fail. */
export class TakerFailed extends Error {
  override readonly name = "TakerFailed";
}

/**
 * Writes an export to `to` and ends it. A part is read when the one before was consumed, so no process holds more than two parts.
 * Throws what `read` throws, TakerFailed, or the signal's reason.
 */
export async function pumpParts(options: {
  readonly read: PartReader;
  readonly to: Writable;
  readonly signal: AbortSignal;
  /** Called after each part. */
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
