import type { LogSource } from "../../contract/log.ts";
import type { LogEntry } from "../core/service/log.ts";

/** Longer than a line usually travels from its service: the lines of a batch are up to 50 ms old when it leaves. */
const holdMs = 100;

export interface SourcedEntry {
  readonly source: LogSource;
  readonly entry: LogEntry;
}

interface HeldEntry extends SourcedEntry {
  /** By the monotonic clock: a clock that is set back must not hold a line for longer. */
  readonly dueMs: number;
}

/**
 * Puts the lines of several processes in order of time: each is held until it is 100 ms old, by when earlier lines of the others
 * have arrived. A line that arrives later than that is passed on at once.
 */
export interface LogOrder {
  add(source: LogSource, entries: readonly LogEntry[]): void;
  /** Passes on what is held; what is added later is not held. */
  close(): void;
}

export function createLogOrder(onOrdered: (lines: readonly SourcedEntry[]) => void): LogOrder {
  let held: HeldEntry[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function release() {
    clearTimeout(timer);
    timer = undefined;
    held.sort((one, other) => one.entry.at - other.entry.at);
    const nowMs = performance.now();
    const last = closed ? held.length - 1 : held.findLastIndex(({ dueMs }) => dueMs <= nowMs);
    const ordered = held.slice(0, last + 1);
    held = held.slice(last + 1);
    if (held.length > 0)
      timer = setTimeout(release, held.reduce((least, { dueMs }) => Math.min(least, dueMs), Number.POSITIVE_INFINITY) - nowMs);
    if (ordered.length > 0) onOrdered(ordered);
  }

  return {
    add(source, entries) {
      const now = Date.now();
      const nowMs = performance.now();
      let late = false;
      for (const entry of entries) {
        const leftMs = holdMs - Math.min(Math.max(0, now - entry.at), holdMs);
        held.push({ source, entry, dueMs: nowMs + leftMs });
        late ||= leftMs === 0;
      }
      if (late || closed) release();
      else if (held.length > 0) timer ??= setTimeout(release, holdMs);
    },
    close() {
      closed = true;
      release();
    },
  };
}
