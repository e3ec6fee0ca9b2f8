import type { EventFormat, EventJob } from "../../../contract/events.ts";
import { ServiceError } from "../../core/service-error.ts";
import type { EventStore } from "../store/event-store.ts";
import { type EventJobs, nextTurn } from "./event-jobs.ts";
import { createEventImport, type EventImport } from "./import-events.ts";

export interface EventImports {
  begin(format: EventFormat): EventJob;
  /** Resolves when the piece is stored. Throws JOB_UNKNOWN. */
  text(id: number, text: string): Promise<EventJob>;
  end(id: number): Promise<EventJob>;
}

export interface EventImportsOptions {
  readonly jobs: EventJobs;
  readonly add: EventStore["add"];
  readonly onStored: () => void;
  /** Without a piece for so long, whoever sent them is gone. */
  readonly idleMs?: number | undefined;
}

interface Running {
  readonly source: EventImport;
  readonly finish: () => void;
  readonly fail: (error: unknown) => void;
  /** Pieces are stored one after the other, in the order in which they came. */
  queue: Promise<void>;
  idle: NodeJS.Timeout | undefined;
}

/** Imports whose text comes piece by piece, from a page that may be closed in the middle. */
export function createEventImports({ jobs, add, onStored, idleMs = 15_000 }: EventImportsOptions): EventImports {
  const imports = new Map<number, Running>();

  function awaitPiece(id: number, running: Running): void {
    clearTimeout(running.idle);
    if (imports.get(id) === running) running.idle = setTimeout(() => jobs.cancel(id, abandoned()), idleMs);
  }

  async function feed(id: number, use: (source: EventImport) => Promise<void>, bytes: number): Promise<Running> {
    const running = imports.get(id);
    if (!running) throw unknown(id, "is no import under way");
    clearTimeout(running.idle);
    const turn = running.queue.then(async () => {
      if (imports.get(id) !== running) throw unknown(id, "was cancelled");
      await use(running.source);
    });
    running.queue = turn.catch(() => {});
    try {
      await turn;
    } catch (error) {
      running.fail(error);
      throw error;
    }
    const { added, refused, refusedLines } = running.source;
    jobs.progress(id, { done: added, refused, refusedLines: [...refusedLines], bytes: jobs.get(id).bytes + bytes });
    onStored();
    awaitPiece(id, running);
    return running;
  }

  return {
    begin: (format) =>
      jobs.start({ kind: "import", format, refused: 0, refusedLines: [] }, async ({ id, signal }) => {
        const ended = new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => resolve());
          const running: Running = {
            source: createEventImport({ add, format }),
            finish: resolve,
            fail: reject,
            queue: Promise.resolve(),
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
      }),
    async text(id, text) {
      await feed(id, (source) => source.add(text), Buffer.byteLength(text));
      return jobs.get(id);
    },
    async end(id) {
      (await feed(id, (source) => source.end(), 0)).finish();
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
    "What had arrived is stored. Import the rest of the file, or delete what came and import it again.",
  );
