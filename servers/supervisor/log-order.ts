import type { LogSource } from "../../contract/log.ts";
import { type LogEntry, LogReader } from "../core/service/log.ts";

/** Longer than a line usually travels from its service: the lines of a batch are up to 50 ms old when it leaves. */
const holdMs = 100;
/** Lines that are due within this time are passed on together: a timer for each would cost more than the line. */
const togetherMs = 25;

export interface SourcedEntry {
  readonly source: LogSource;
  readonly entry: LogEntry;
}

/** The lines of one batch. They stay bytes while they are held: objects would live long enough to reach the old generation. */
interface HeldBatch {
  readonly source: LogSource;
  readonly lines: LogReader;
  /** By the monotonic clock and by the clock of the lines. */
  readonly arrivedMs: number;
  readonly arrivedAt: number;
}

/**
 * Puts the lines of several processes in order of time: each is held until it is 75 to 100 ms old, by when earlier lines of the others
 * have arrived. A line that arrives later than that is passed on at once.
 */
export interface LogOrder {
  /** `written` is of a `LogWriter`, and is copied. */
  add(source: LogSource, written: Uint8Array): void;
  /** Passes on what is held; what is added later is not held. */
  close(): void;
}

export function createLogOrder(onOrdered: (lines: readonly SourcedEntry[]) => void): LogOrder {
  let held: HeldBatch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** When the next line of a batch is due, by the monotonic clock: a clock that is set back must not hold a line for longer. */
  const dueMs = ({ lines, arrivedMs, arrivedAt }: HeldBatch) =>
    arrivedMs + holdMs - Math.min(Math.max(0, arrivedAt - lines.nextAt), holdMs);
  const earliestDueMs = () => held.reduce((least, batch) => Math.min(least, dueMs(batch)), Number.POSITIVE_INFINITY);

  function release() {
    clearTimeout(timer);
    timer = undefined;
    const upTo = closed ? Number.POSITIVE_INFINITY : performance.now() + togetherMs;
    const ordered: SourcedEntry[] = [];
    while (held.length > 0 && earliestDueMs() <= upTo) {
      const first = held.reduce((oldest, batch) => (batch.lines.nextAt < oldest.lines.nextAt ? batch : oldest));
      const others = held.filter((batch) => batch !== first);
      const othersAt = others.reduce((least, { lines }) => Math.min(least, lines.nextAt), Number.POSITIVE_INFINITY);
      do ordered.push({ source: first.source, entry: first.lines.read() });
      while (!first.lines.ended && first.lines.nextAt < othersAt && dueMs(first) <= upTo);
      if (first.lines.ended) held = others;
    }
    if (held.length > 0) timer = setTimeout(release, Math.max(0, earliestDueMs() - performance.now()));
    if (ordered.length > 0) onOrdered(ordered);
  }

  return {
    add(source, written) {
      const lines = new LogReader(Buffer.from(written));
      if (lines.ended) return;
      const batch = { source, lines, arrivedMs: performance.now(), arrivedAt: Date.now() };
      held.push(batch);
      if (closed || dueMs(batch) <= batch.arrivedMs) release();
      else timer ??= setTimeout(release, holdMs);
    },
    close() {
      closed = true;
      release();
    },
  };
}
