import type { EventFilter, EventJob, EventsActions } from "../../contract/events.ts";
import type { Handlers } from "../../contract/operation.ts";
import type { Log } from "../core/log.ts";
import { ServiceError } from "../core/service-error.ts";
import type { NewEvent } from "./completion-event.ts";
import { createEventJobs, nextTurn } from "./jobs/event-jobs.ts";
import { exportPart } from "./jobs/export-events.ts";
import { createEventImport, type EventImport } from "./jobs/import-events.ts";
import { createSampleSource } from "./jobs/sample-events.ts";
import { outcomePlot } from "./outcome-plot.ts";
import { countMatching, pageOfEvents } from "./page-of-events.ts";
import { retryWhileLocked } from "./retry-while-locked.ts";
import type { StoreAccess } from "./store-access.ts";

const eventsAtOnce = 1_000;
const dayMs = 86_400_000;

/** What the page can do without the service listening: all but requests to it and the limits. */
export type DataHandlers = Omit<Handlers<EventsActions>, "try" | "sample.start" | "sample.stop" | "limits.reset">;

export function createDataActions(parts: {
  readonly access: StoreAccess;
  readonly log: Log;
  readonly showJobs: (jobs: readonly EventJob[]) => void;
}): { readonly handlers: DataHandlers; close(): Promise<void> } {
  const { access, log } = parts;
  const { store } = access;
  const add = (events: readonly NewEvent[]) => retryWhileLocked(() => store.add(events));
  const jobs = createEventJobs({ log, onChange: () => parts.showJobs(jobs.list()) });
  const imports = new Map<number, { readonly source: EventImport; end(error?: unknown): void; queue: Promise<void> }>();

  function beginImport(format: "csv" | "jsonl"): EventJob {
    const source = createEventImport({ add, format });
    return jobs.start({ kind: "import", format, refused: 0, refusedLines: [] }, async ({ id, signal }) => {
      const cancelled = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      const ended = new Promise<void>((resolve, reject) => {
        imports.set(id, { source, end: (error) => (error === undefined ? resolve() : reject(error)), queue: Promise.resolve() });
      });
      await Promise.race([cancelled, ended]).finally(() => imports.delete(id));
    });
  }

  /** Pieces are stored one after the other, in the order in which they came. */
  async function feedImport(id: number, use: (source: EventImport) => Promise<void>, bytes: number, last: boolean): Promise<EventJob> {
    const running = imports.get(id);
    if (!running) throw notInThatState(id, "is no import under way");
    const turn = running.queue.then(async () => {
      if (imports.get(id) !== running) throw notInThatState(id, "was cancelled");
      await use(running.source);
    });
    running.queue = turn.catch(() => {});
    try {
      await turn;
    } catch (error) {
      running.end(error);
      throw error;
    }
    const { added, refused, refusedLines } = running.source;
    jobs.progress(id, { done: added, refused, refusedLines: [...refusedLines], bytes: jobs.get(id).bytes + bytes });
    access.changed();
    if (last) {
      running.end();
      await nextTurn();
    }
    return jobs.get(id);
  }

  function startDelete(filter: EventFilter, total: number | undefined): EventJob {
    return jobs.start({ kind: "delete", ...(total !== undefined && { total }) }, async ({ signal, progress }) => {
      const to = await store.newestId();
      let done = 0;
      let from: number | undefined;
      for (let ended = to === 0; !ended; ) {
        signal.throwIfAborted();
        const removed = await retryWhileLocked(() => store.remove(filter, { from, to, limit: eventsAtOnce }));
        done += removed.found;
        from = removed.reached;
        ended = removed.ended;
        progress({ done });
        access.changed();
        await nextTurn();
      }
      log.notable(`Deleted ${done.toLocaleString("en")} events`);
    });
  }

  const generate = (count: number, days: number): EventJob =>
    jobs.start({ kind: "generate", total: count }, async ({ signal, progress }) => {
      const source = createSampleSource();
      const now = Date.now();
      for (let done = 0; done < count; ) {
        signal.throwIfAborted();
        const size = Math.min(eventsAtOnce, count - done);
        const timeOf = (index: number) => now - days * dayMs * (1 - (done + index + 1) / count);
        await add(Array.from({ length: size }, (_, index) => source.stored(timeOf(index))));
        done += size;
        progress({ done });
        access.changed();
        await nextTurn();
      }
    });

  const exactTotal = async (filter: EventFilter) => {
    const { matching, exact } = await countMatching(store, filter);
    return exact ? matching : undefined;
  };

  /** Opens the store first, as the first request would. */
  const opened =
    <Params, Result>(use: (params: Params) => Result | Promise<Result>) =>
    async (params: Params): Promise<Result> => {
      await access.ready();
      return use(params);
    };

  return {
    handlers: {
      page: opened((params) => pageOfEvents(store, params)),
      plot: opened(({ range, filter }) => outcomePlot(store, range, filter, Date.now())),
      devices: opened(({ prefix, limit }) => store.devices(prefix, limit)),
      export: opened((params) => exportPart(store, params)),
      "import.begin": opened(({ format }) => beginImport(format)),
      "import.text": ({ job, text }) => feedImport(job, (source) => source.add(text), Buffer.byteLength(text), false),
      "import.end": ({ job }) => feedImport(job, (source) => source.end(), 0, true),
      "job.cancel": ({ job }) => jobs.cancel(job),
      "job.remove"({ job }) {
        jobs.remove(job);
        return null;
      },
      "delete.count": opened(({ filter }) => countMatching(store, filter)),
      "delete.start": opened(async ({ filter }) => startDelete(filter, await exactTotal(filter))),
      "sample.generate": opened(({ count, days }) => generate(count, days)),
    },
    close: () => jobs.close(),
  };
}

const notInThatState = (id: number, why: string) => new ServiceError("JOB_UNKNOWN", `Job ${id} ${why}`, "Start it again.");
