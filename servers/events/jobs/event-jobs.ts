import type { EventJob } from "../../../contract/services/events.ts";
import type { Log } from "../../core/service/log.ts";
import { countOf } from "../../core/service/quantity.ts";
import { ServiceError, toFailure } from "../../core/service/service-error.ts";

/** Progress that a running job updates. */
export type JobProgress = Partial<Pick<EventJob, "done" | "total" | "bytes" | "existing" | "refused" | "refusedLines">>;

export interface JobContext {
  readonly id: number;
  /** Aborted when somebody cancels it, and at stop. */
  readonly signal: AbortSignal;
  readonly job: EventJob;
  progress(change: JobProgress): void;
}

export interface EventJobs {
  list(): readonly EventJob[];
  /** Throws JOB_UNKNOWN. */
  get(id: number): EventJob;
  /** Begins it and returns at once; `work` ends it by returning or throwing. */
  start(begin: Pick<EventJob, "kind"> & Partial<EventJob>, work: (context: JobContext) => Promise<void>): EventJob;
  progress(id: number, change: JobProgress): void;
  /** `reason` is shown if the user did not cancel it. */
  cancel(id: number, reason?: ServiceError): EventJob;
  /** Removes an ended one from the list. Throws JOB_UNKNOWN for one that runs. */
  remove(id: number): EventJob;
  /** Cancels all and waits for them. */
  close(): Promise<void>;
}

const keptJobs = 20;
const nouns: Readonly<Record<EventJob["kind"], string>> = { import: "import", delete: "deletion", generate: "generation" };

export interface EventJobsOptions {
  readonly log: Log;
  readonly onChange: () => void;
  /** Called with the reason when a job fails. */
  readonly onFailure: (error: unknown) => void;
}

export function createEventJobs({ log, onChange, onFailure }: EventJobsOptions): EventJobs {
  /** The newest last. */
  const jobs = new Map<number, { job: EventJob; controller: AbortController; ended: Promise<void> }>();
  let lastId = 0;

  function entry(id: number) {
    const found = jobs.get(id);
    if (!found)
      throw new ServiceError("JOB_UNKNOWN", `There is no job ${id}`, "It was removed, or the service was restarted since: start it again.");
    return found;
  }

  function change(id: number, part: Partial<EventJob>): void {
    const found = jobs.get(id);
    if (!found) return;
    found.job = { ...found.job, ...part };
    onChange();
  }

  function changeToCancelled(id: number, { reason }: AbortSignal): void {
    change(id, { state: "cancelled", endedAt: Date.now(), ...(reason instanceof ServiceError && { failure: toFailure(reason) }) });
  }

  function forgetOldest(): void {
    for (const [id, { job }] of jobs) {
      if (jobs.size <= keptJobs) return;
      if (job.state !== "running") jobs.delete(id);
    }
  }

  return {
    list: () => [...jobs.values()].map(({ job }) => job).reverse(),
    get: (id) => entry(id).job,
    start(begin, work) {
      const id = ++lastId;
      const controller = new AbortController();
      const job: EventJob = { state: "running", startedAt: Date.now(), done: 0, bytes: 0, ...begin, id };
      const run = async () => {
        const context: JobContext = {
          id,
          signal: controller.signal,
          get job() {
            return entry(id).job;
          },
          progress: (part) => change(id, part),
        };
        try {
          await work(context);
          if (controller.signal.aborted) changeToCancelled(id, controller.signal);
          else change(id, { state: "done", endedAt: Date.now() });
        } catch (error) {
          if (controller.signal.aborted) changeToCancelled(id, controller.signal);
          else {
            const failure = toFailure(error);
            change(id, { state: "failed", endedAt: Date.now(), failure });
            log.error(`The ${nouns[begin.kind]} failed: ${failure.message}`);
            onFailure(error);
          }
        }
      };
      const added = { job, controller, ended: Promise.resolve() };
      jobs.set(id, added);
      added.ended = run();
      forgetOldest();
      onChange();
      return job;
    },
    progress: change,
    cancel(id, reason) {
      const found = entry(id);
      found.controller.abort(reason);
      return found.job;
    },
    remove(id) {
      const { job } = entry(id);
      if (job.state === "running") throw new ServiceError("JOB_UNKNOWN", `Job ${id} still runs`, "Cancel it first.");
      jobs.delete(id);
      onChange();
      return job;
    },
    async close() {
      const running = [...jobs.values()].filter(({ job }) => job.state === "running");
      for (const { controller } of running) controller.abort();
      await Promise.all(running.map(({ ended }) => ended));
      for (const { job } of running) {
        log.warning(`The ${nouns[job.kind]} was interrupted by the end of the service, after ${countOf(job.done, "event")}`);
      }
    },
  };
}
