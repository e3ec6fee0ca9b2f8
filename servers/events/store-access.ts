import type { EventsViews } from "../../contract/services/events.ts";
import { retryWhileLocked } from "../core/files/sqlite-file.ts";
import type { Log } from "../core/service/log.ts";
import { ServiceError, toFailure } from "../core/service/service-error.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import type { EventStore } from "./store/event-store.ts";

export interface StoreAccess {
  readonly store: EventStore;
  readonly commits: GroupCommit;
  /** Opens and migrates the store at the first use and after a failure; undefined once that is done. */
  ready(): Promise<void> | undefined;
  /** Events were stored or deleted. */
  changed(): void;
  /** Logs a fault and shows it on the page; a repeated one is logged at intervals. */
  fault(error: unknown): void;
  close(): Promise<void>;
}

export interface StoreAccessOptions {
  readonly store: EventStore;
  readonly log: Log;
  readonly view: <Name extends "totals" | "storage">(name: Name, value: EventsViews[Name]) => void;
}

const totalsEveryMs = 250;
const otherInstancesEveryMs = 1_000;
/** Shortest time before the same fault is logged again. */
const quietMs = 10_000;

/** The store shared by requests and the page, with the state that the page shows. */
export function createStoreAccess({ store, log, view }: StoreAccessOptions): StoreAccess {
  let opened = false;
  let opening: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  let faulty = false;
  let lastFault = { text: "", at: Number.NEGATIVE_INFINITY };
  let recovery: NodeJS.Timeout | undefined;
  let recoveredAt = Number.NEGATIVE_INFINITY;

  const showStorage = (error?: unknown) =>
    view("storage", { kind: store.kind, place: store.place, ...(error !== undefined && { failure: toFailure(error) }) });

  function healthy(): void {
    if (!faulty || recovery) return;
    // Faults may come and go, as on a nearly full disk: not every change is logged.
    recovery = setTimeout(recovered, Math.max(0, recoveredAt + quietMs - performance.now()));
  }

  function recovered(): void {
    recovery = undefined;
    faulty = false;
    recoveredAt = performance.now();
    log.notable(`${store.place} can be used again`);
    showStorage();
  }

  function fault(error: unknown): void {
    const { message } = toFailure(error);
    const at = performance.now();
    const isNews = error instanceof ServiceError && !faulty;
    if (isNews || message !== lastFault.text || at - lastFault.at > quietMs) {
      log.error(error instanceof ServiceError ? `${message}. ${error.hint}` : `A request failed: ${(error as Error)?.stack ?? message}`);
      lastFault = { text: message, at };
    }
    if (!(error instanceof ServiceError)) return;
    faulty = true;
    clearTimeout(recovery);
    recovery = undefined;
    if (opened && (error.code === "STORE_DAMAGED" || (error.code === "STORE_UNREACHABLE" && store.kind === "sqlite"))) {
      // Closed, so that the next request opens the file that is in its place then.
      opened = false;
      clearInterval(poll);
      void store.close();
    }
    showStorage(error);
  }

  async function readTotals(): Promise<void> {
    const [stats, newestId] = await Promise.all([store.stats(), store.newestId()]);
    const { total_events: events, unique_devices: devices, accepted, rejected, ignored } = stats;
    view("totals", { newestId, events, devices, accepted, rejected, ignored });
  }

  async function showTotals(): Promise<void> {
    timer = undefined;
    if (!opened) return;
    try {
      await readTotals();
    } catch (error) {
      if (opened) fault(error);
    }
  }

  function changed(): void {
    if (opened) timer ??= setTimeout(() => void showTotals(), totalsEveryMs);
  }

  async function open(): Promise<void> {
    try {
      await retryWhileLocked(() => store.open());
      // A store that cannot be read counts as closed.
      await readTotals();
      opened = true;
      healthy();
      // Other instances write to the same database.
      if (store.kind === "postgres") poll = setInterval(changed, otherInstancesEveryMs);
    } catch (error) {
      fault(error);
      throw error;
    } finally {
      opening = undefined;
    }
  }

  const commits = createGroupCommit({
    async store(events) {
      await store.add(events);
      healthy();
      changed();
    },
  });

  showStorage();
  return {
    store,
    commits,
    ready() {
      if (opened) return undefined;
      opening ??= open();
      return opening;
    },
    changed,
    fault,
    async close() {
      await commits.drain();
      await opening?.catch(() => {});
      opened = false;
      clearTimeout(timer);
      clearTimeout(recovery);
      clearInterval(poll);
      await store.close();
    },
  };
}
