import type { ServiceBatch } from "../service/link.ts";
import type { LogEntry } from "../service/log.ts";
import type { TrafficEntry, TrafficSink } from "../service/service.ts";

export interface OutboxLimits {
  readonly entries: number;
  readonly heldBytes: number;
  readonly logs: number;
  /** Entries in one batch. While it is told the service does nothing else: 250 take 10 to 30 ms. */
  readonly batchEntries: number;
  /** Entries that are still told when the process ends. */
  readonly lastEntries: number;
  /** Least time between two batches; the first after a rest leaves at once, and so does a full one. */
  readonly intervalMs: number;
}

export const outboxLimits: OutboxLimits = {
  entries: 20_000,
  heldBytes: 16 << 20,
  logs: 20_000,
  batchEntries: 250,
  lastEntries: 2_000,
  intervalMs: 50,
};

/** Batches on their way that the supervisor has not stored yet. */
const window = 2;

export interface Outbox extends TrafficSink {
  log(entry: LogEntry): void;
  ack(seq: number): void;
  /** Sends what is queued, whatever the window: for the last moments of a process. */
  flush(): void;
  close(): void;
}

/**
 * Queues rows and log lines and posts them in batches. What does not fit is counted, never waited for.
 * A row that was posted while pending is never dropped when it ends, or it would look open for ever.
 */
export function createOutbox(options: { post: (batch: ServiceBatch) => void; firstRowId?: number; limits?: OutboxLimits }): Outbox {
  const limits = options.limits ?? outboxLimits;
  let nextRowId = options.firstRowId ?? 1;
  /** Each waiting entry with the bytes it was counted for. */
  const queued = new Map<TrafficEntry, number>();
  let logs: LogEntry[] = [];
  const announced = new Set<TrafficEntry>();
  /** Counted as dropped so far: one that fits when it ends is a delivered row after all, and must not count twice. */
  const missed = new WeakSet<TrafficEntry>();
  let heldBytes = 0;
  let droppedRows = 0;
  let droppedLogs = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function schedule() {
    if (timer || closed || seq - acked >= window) return;
    const isFull = queued.size >= limits.batchEntries;
    const waitMs = isFull ? 0 : Math.max(0, lastFlushAt + limits.intervalMs - performance.now());
    timer = setTimeout(flushBatch, waitMs, limits.batchEntries);
  }

  function flushBatch(most: number) {
    clearTimeout(timer);
    timer = undefined;
    if (queued.size === 0 && logs.length === 0) return;
    lastFlushAt = performance.now();
    const taken: TrafficEntry[] = [];
    for (const entry of queued.keys()) {
      taken.push(entry);
      if (taken.length === most) break;
    }
    const rows: unknown[] = [];
    const details: string[] = [];
    for (const entry of taken) {
      heldBytes -= queued.get(entry) ?? 0;
      queued.delete(entry);
      const row = entry.row();
      rows.push(row);
      if (row.tone === "pending") announced.add(entry);
      else announced.delete(entry);
      // A pending row may stay open for hours: its detail as it is now is worth showing too.
      details.push(JSON.stringify(entry.detail()));
    }
    const sentLogs = logs;
    logs = [];
    options.post({ type: "batch", seq: ++seq, rows: JSON.stringify(rows), details, logs: sentLogs, droppedRows, droppedLogs });
    if (queued.size > 0) schedule();
  }

  return {
    nextId: () => nextRowId++,
    touch(entry) {
      if (closed) return;
      const counted = queued.get(entry);
      if (counted === undefined && !announced.has(entry) && (queued.size >= limits.entries || heldBytes >= limits.heldBytes)) {
        if (!missed.has(entry)) droppedRows++;
        missed.add(entry);
        return;
      }
      if (droppedRows > 0 && missed.delete(entry)) droppedRows--;
      queued.set(entry, entry.heldBytes);
      heldBytes += entry.heldBytes - (counted ?? 0);
      schedule();
    },
    log(entry) {
      if (closed) return;
      if (logs.length >= limits.logs) {
        droppedLogs++;
        return;
      }
      logs.push(entry);
      schedule();
    },
    ack(upTo) {
      acked = Math.max(acked, upTo);
      if (queued.size > 0 || logs.length > 0) schedule();
    },
    flush() {
      // Telling a full queue takes seconds, and whoever asked for a stop waits: the newest go, the rest is counted.
      let surplus = queued.size - limits.lastEntries;
      for (const entry of queued.keys()) {
        if (surplus <= 0) break;
        if (announced.has(entry)) continue;
        queued.delete(entry);
        droppedRows++;
        surplus--;
      }
      while (queued.size > 0 || logs.length > 0) flushBatch(limits.lastEntries);
      clearTimeout(timer);
      timer = undefined;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      queued.clear();
      logs = [];
      announced.clear();
    },
  };
}
