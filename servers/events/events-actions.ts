import { setImmediate as nextTurn } from "node:timers/promises";
import type { Handlers } from "../../contract/operation.ts";
import type { EventFilter, EventJob, EventsActions } from "../../contract/services/events.ts";
import { retryWhileLocked } from "../core/files/sqlite-file.ts";
import type { Log } from "../core/service/log.ts";
import { countOf } from "../core/service/quantity.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { NewEvent } from "./completion-event.ts";
import { countMatching } from "./count-matching.ts";
import { createEventImports } from "./jobs/event-imports.ts";
import { createEventJobs } from "./jobs/event-jobs.ts";
import { exportPart } from "./jobs/export-events.ts";
import { createSampleSource } from "./jobs/sample-events.ts";
import { outcomePlot } from "./outcome-plot.ts";
import { pageOfEvents } from "./page-of-events.ts";
import type { StoreAccess } from "./store-access.ts";

const eventsAtOnce = 1_000;
/** Rows of the rollups go with them: a thousand events that name as many languages take 80 ms. */
const deletedAtOnce = 250;
/** Time for counting the events before a deletion starts; after it the deletion starts without a total. */
const deletionCountMs = 20_000;
const dayMs = 86_400_000;

/** The page's actions that work while the service does not listen: all but requests and limits. */
export type DataHandlers = Omit<Handlers<EventsActions>, "try" | "resend" | "sample.start" | "sample.stop" | "limits.reset">;

export function createDataActions(parts: {
  readonly access: StoreAccess;
  readonly log: Log;
  readonly showJobs: (jobs: readonly EventJob[]) => void;
  readonly importIdleMs?: number;
}): { readonly handlers: DataHandlers; close(): Promise<void> } {
  const { access, log } = parts;
  const { store } = access;
  const add = (events: readonly NewEvent[]) => retryWhileLocked(() => store.add(events));
  function storeFault(error: unknown): void {
    if (error instanceof ServiceError && error.code.startsWith("STORE_")) access.fault(error);
  }
  const jobs = createEventJobs({ log, onChange: () => parts.showJobs(jobs.list()), onFailure: storeFault });
  // A page may still show the jobs of an earlier process.
  parts.showJobs(jobs.list());
  const imports = createEventImports({ jobs, store: { ...store, add }, onStored: access.changed, idleMs: parts.importIdleMs });

  function startDelete(filter: EventFilter): EventJob {
    return jobs.start({ kind: "delete" }, async ({ signal, progress }) => {
      const to = await store.newestId();
      const { matching, exact } = await countMatching(store, filter, { budgetMs: deletionCountMs, signal });
      if (exact) progress({ total: matching });
      let done = 0;
      let from: number | undefined;
      for (let ended = to === 0; !ended; ) {
        signal.throwIfAborted();
        const removed = await retryWhileLocked(() => store.remove(filter, { from, to, limit: deletedAtOnce }));
        done += removed.found;
        from = removed.reached;
        ended = removed.ended;
        progress({ done });
        access.changed();
        await nextTurn();
      }
      log.notable(`Deleted ${countOf(done, "event")}`);
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

  /** Opens the store first, as the first request would. */
  const opened =
    <Params, Result>(use: (params: Params) => Result | Promise<Result>) =>
    async (params: Params): Promise<Result> => {
      await access.ready();
      try {
        return await use(params);
      } catch (error) {
        storeFault(error);
        throw error;
      }
    };

  return {
    handlers: {
      page: opened((params) => pageOfEvents(store, params)),
      plot: opened(({ range, filter }) => outcomePlot(store, range, filter, Date.now())),
      devices: opened(({ prefix, limit }) => store.devices(prefix, limit)),
      export: opened((params) => exportPart(store, params)),
      "import.begin": opened((params) => imports.begin(params)),
      "import.text": ({ job, text }) => imports.text(job, text),
      "import.end": ({ job }) => imports.end(job),
      "job.cancel": ({ job }) => jobs.cancel(job),
      "job.remove"({ job }) {
        jobs.remove(job);
        return null;
      },
      "delete.count": opened(({ filter }) => countMatching(store, filter, { budgetMs: deletionCountMs })),
      "delete.start": opened(({ filter }) => startDelete(filter)),
      "sample.generate": opened(({ count, days }) => generate(count, days)),
    },
    close: () => jobs.close(),
  };
}
