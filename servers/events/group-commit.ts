import { retryWhileLocked } from "../core/files/sqlite-file.ts";
import { ServiceError } from "../core/service/service-error.ts";
import type { NewEvent } from "./completion-event.ts";

export interface GroupCommitOptions {
  /** Stores all or none; resolves when they are on disk. */
  readonly store: (events: readonly NewEvent[]) => Promise<unknown>;
  readonly largestGroup?: number;
  /** Most waiting events; one more is refused. */
  readonly mostWaiting?: number;
  /** How long a locked database is retried. */
  readonly lockedForMs?: number | undefined;
}

export interface GroupCommit {
  /** Calls back once the event is on disk, or with the reason why it is not. */
  add(event: NewEvent, done: (error?: unknown) => void): void;
  /** Resolves when nothing waits. */
  drain(): Promise<void>;
}

interface Waiting {
  readonly event: NewEvent;
  readonly done: (error?: unknown) => void;
}

/**
 * Many events share one commit: those that arrive in one turn of the event loop, or while a commit is in progress.
 * No timer waits for more, so a single event is stored at once.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { store, largestGroup = 500, mostWaiting = 20_000, lockedForMs } = options;
  let waiting: Waiting[] = [];
  let scheduled = false;
  let committing = false;
  let drained: (() => void)[] = [];

  function schedule(): void {
    if (scheduled || committing) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    if (waiting.length === 0) {
      settleDrained();
      return;
    }
    const group = waiting.length > largestGroup ? waiting.splice(0, largestGroup) : waiting;
    if (group === waiting) waiting = [];
    committing = true;
    void commit(group).then(() => {
      committing = false;
      if (waiting.length > 0) schedule();
      else settleDrained();
    });
  }

  async function commit(group: readonly Waiting[]): Promise<void> {
    const events = group.map(({ event }) => event);
    try {
      await retryWhileLocked(() => store(events), lockedForMs);
    } catch (error) {
      if (error instanceof ServiceError || group.length === 1) {
        for (const { done } of group) done(error);
        return;
      }
      // One of them is at fault: each is stored by itself, so that the others succeed.
      for (const one of group) await commit([one]);
      return;
    }
    for (const { done } of group) done();
  }

  function settleDrained(): void {
    for (const resolve of drained) resolve();
    drained = [];
  }

  return {
    add(event, done) {
      if (waiting.length >= mostWaiting) {
        done(
          new ServiceError(
            "STORE_BUSY",
            `${mostWaiting} events wait to be stored`,
            "The database is slower than the clients: send less, or wait.",
          ),
        );
        return;
      }
      waiting.push({ event, done });
      schedule();
    },
    drain() {
      if (waiting.length === 0 && !committing) return Promise.resolve();
      return new Promise((resolve) => {
        drained.push(resolve);
        schedule();
      });
    },
  };
}
