import type { ServiceBatch } from "../service/link.ts";
import type { LogEntry } from "../service/log.ts";
import type { TrafficEntry, TrafficSink } from "../service/service.ts";
import { RecordWriter } from "./record-writer.ts";

export interface OutboxLimits {
  readonly entries: number;
  readonly heldBytes: number;
  readonly logs: number;
  /** Entries in one batch. */
  readonly batchEntries: number;
  /** A batch that has grown so far leaves: what is left waits for the next turn of the event loop. */
  readonly batchBytes: number;
  /** A batch that has taken so long leaves too: while it is written the service does nothing else. */
  readonly batchMs: number;
  /** Entries that are still written when the process ends. */
  readonly lastEntries: number;
  /** Least time between two batches; the first after a rest leaves at once, and so does a full one. */
  readonly intervalMs: number;
}

export const outboxLimits: OutboxLimits = {
  entries: 20_000,
  heldBytes: 16 << 20,
  logs: 20_000,
  batchEntries: 250,
  batchBytes: 256 << 10,
  batchMs: 1,
  lastEntries: 2_000,
  intervalMs: 50,
};

/** Batches on their way that the supervisor has not stored yet. */
const window = 2;
/** Asking for the time costs about what a short record costs. */
const clockEvery = 8;

export interface Outbox extends TrafficSink {
  log(entry: LogEntry): void;
  ack(seq: number): void;
  /** Sends what is queued, whatever the window: for the last moments of a process. */
  flush(): void;
  close(): void;
}

export interface OutboxOptions {
  /** `records` of the batch are good until it returns. */
  readonly post: (batch: ServiceBatch) => void;
  readonly firstRowId?: number | undefined;
  readonly limits?: OutboxLimits | undefined;
}

/**
 * Queues rows and log lines and posts them in batches. What does not fit is counted, never waited for.
 * A row that was posted while pending is never dropped when it ends, or it would look open for ever.
 */
export function createOutbox({ post, firstRowId = 1, limits = outboxLimits }: OutboxOptions): Outbox {
  let nextRowId = firstRowId;
  /** Each waiting entry with the bytes it was counted for. */
  const queued = new Map<TrafficEntry, number>();
  let logs: LogEntry[] = [];
  const announced = new Set<TrafficEntry>();
  /** Counted as dropped so far: one that fits when it ends is a delivered row after all, and must not count twice. */
  const missed = new WeakSet<TrafficEntry>();
  const records = new RecordWriter();
  let heldBytes = 0;
  let droppedRows = 0;
  let droppedLogs = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** The batch before was full: the next one leaves in the next turn of the event loop. */
  let next: NodeJS.Immediate | undefined;
  let closed = false;

  function schedule() {
    if (next || closed || seq - acked >= window) return;
    if (queued.size >= limits.batchEntries) {
      clearTimeout(timer);
      timer = undefined;
      next = setImmediate(flushBatch);
    }
    if (!next) timer ??= setTimeout(flushBatch, Math.max(0, lastFlushAt + limits.intervalMs - performance.now()));
  }

  function unschedule() {
    clearTimeout(timer);
    clearImmediate(next);
    timer = undefined;
    next = undefined;
  }

  function flushBatch() {
    unschedule();
    if (queued.size === 0 && logs.length === 0) return;
    const startedAt = performance.now();
    lastFlushAt = startedAt;
    let taken = 0;
    for (const [entry, counted] of queued) {
      heldBytes -= counted;
      queued.delete(entry);
      write(entry);
      taken++;
      if (taken === limits.batchEntries || records.length >= limits.batchBytes) break;
      if (taken % clockEvery === 0 && performance.now() - startedAt >= limits.batchMs) break;
    }
    const sentLogs = logs;
    logs = [];
    post({ type: "batch", seq: ++seq, records: records.take(), logs: sentLogs, droppedRows, droppedLogs });
    if (queued.size > 0) schedule();
  }

  function write(entry: TrafficEntry) {
    if (entry.open) announced.add(entry);
    else announced.delete(entry);
    records.begin();
    try {
      entry.write(records);
      records.end();
    } catch {
      // A row that cannot be written must not take the service's process with it.
      records.undo();
      droppedRows++;
    }
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
      const held = entry.heldBytes;
      queued.set(entry, held);
      heldBytes += held - (counted ?? 0);
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
      // Writing a full queue takes long and delays the stop: the newest entries are sent, the rest is counted.
      let surplus = queued.size - limits.lastEntries;
      for (const entry of queued.keys()) {
        if (surplus <= 0) break;
        if (announced.has(entry)) continue;
        queued.delete(entry);
        droppedRows++;
        surplus--;
      }
      while (queued.size > 0 || logs.length > 0) flushBatch();
      unschedule();
    },
    close() {
      closed = true;
      unschedule();
      queued.clear();
      logs = [];
      announced.clear();
    },
  };
}
