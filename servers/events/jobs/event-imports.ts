import { setImmediate as nextTurn } from "node:timers/promises";
import type { EventFormat, EventJob } from "../../../contract/services/events.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { EventJobs } from "./event-jobs.ts";
import { createEventImport, type EventImport, type ImportStore } from "./import-events.ts";

export interface EventImports {
  /** `size` in bytes, if known. */
  begin(params: { readonly format: EventFormat; readonly size?: number | undefined }): EventJob;
  /** Resolves when the piece is stored. Throws JOB_UNKNOWN. */
  text(id: number, text: string): Promise<EventJob>;
  end(id: number): Promise<EventJob>;
}

export interface EventImportsOptions {
  readonly jobs: EventJobs;
  readonly store: ImportStore;
  readonly onStored: () => void;
  /** After this time without a piece the import is abandoned. */
  readonly idleMs?: number | undefined;
}

interface Running {
  readonly source: EventImport;
  readonly finish: () => void;
  readonly fail: (error: unknown) => void;
  /** Pieces are stored one after the other, in order of arrival. */
  queue: Promise<void>;
  /** Pieces that arrived while others were being stored: they share a transaction. */
  waiting: { readonly texts: string[]; readonly stored: Promise<unknown> } | undefined;
  /** Pieces that are stored or wait for that. */
  underWay: number;
  idle: NodeJS.Timeout | undefined;
}

/** Imports whose text arrives in pieces, from a page that may be closed before the end. */
export function createEventImports({ jobs, store, onStored, idleMs = 15_000 }: EventImportsOptions): EventImports {
  const imports = new Map<number, Running>();

  function awaitPiece(id: number, running: Running): void {
    clearTimeout(running.idle);
    if (imports.get(id) === running && running.underWay === 0) running.idle = setTimeout(() => jobs.cancel(id, abandoned()), idleMs);
  }

  function underWay(id: number): Running {
    const running = imports.get(id);
    if (!running) throw unknown(id, "is not a running import");
    return running;
  }

  async function feed(id: number, use: (source: EventImport) => Promise<number>): Promise<Running> {
    const running = underWay(id);
    clearTimeout(running.idle);
    running.underWay += 1;
    let bytes = 0;
    const turn = running.queue.then(async () => {
      if (imports.get(id) !== running) throw unknown(id, "was cancelled");
      bytes = await use(running.source);
    });
    running.queue = turn.catch(() => {});
    try {
      await turn;
    } catch (error) {
      running.fail(error);
      throw error;
    } finally {
      running.underWay -= 1;
    }
    const { added, existing, refused, refusedLines } = running.source;
    jobs.progress(id, { done: added, existing, refused, refusedLines: [...refusedLines], bytes: jobs.get(id).bytes + bytes });
    onStored();
    awaitPiece(id, running);
    return running;
  }

  return {
    begin: ({ format, size }) =>
      jobs.start(
        { kind: "import", format, existing: 0, refused: 0, refusedLines: [], ...(size !== undefined && { size }) },
        async ({ id, signal }) => {
          const ended = new Promise<void>((resolve, reject) => {
            signal.addEventListener("abort", () => resolve());
            const running: Running = {
              source: createEventImport({ store, format }),
              finish: resolve,
              fail: reject,
              queue: Promise.resolve(),
              waiting: undefined,
              underWay: 0,
              idle: undefined,
            };
            imports.set(id, running);
            awaitPiece(id, running);
          });
          try {
            await ended;
          } finally {
            clearTimeout(imports.get(id)?.idle);
            imports.delete(id);
          }
        },
      ),
    async text(id, text) {
      const running = underWay(id);
      if (running.waiting) running.waiting.texts.push(text);
      else {
        const texts = [text];
        const stored = feed(id, async (source) => {
          running.waiting = undefined;
          const joined = texts.join("");
          await source.add(joined);
          return Buffer.byteLength(joined);
        });
        running.waiting = { texts, stored };
      }
      await running.waiting.stored;
      return jobs.get(id);
    },
    async end(id) {
      const running = await feed(id, async (source) => {
        await source.end();
        return 0;
      });
      running.finish();
      await nextTurn();
      return jobs.get(id);
    },
  };
}

const unknown = (id: number, why: string) => new ServiceError("JOB_UNKNOWN", `Job ${id} ${why}`, "Start it again.");

const abandoned = () =>
  new ServiceError(
    "IMPORT_ABANDONED",
    "The page that sent the file was closed",
    "The events that had arrived are stored. Import the rest of the file, or delete them and import it again.",
  );
