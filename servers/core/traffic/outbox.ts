import type { ServiceBatch } from "../service/link.ts";
import type { LogEntry } from "../service/log.ts";
import { LogWriter } from "../service/log.ts";
import type { TrafficEntry, TrafficSink } from "../service/service.ts";
import { RecordWriter } from "./record-writer.ts";

export interface OutboxLimits {
  /** Entries that wait, written or not. */
  readonly entries: number;
  /** Of what waits, and apart from that of log lines that wait. */
  readonly heldBytes: number;
  readonly logs: number;
  /** Entries in one batch. */
  readonly batchEntries: number;
  /** A batch that has grown so far leaves: what is left waits for the next turn of the event loop. */
  readonly batchBytes: number;
  /** A batch that has taken so long leaves too: while it is written the service does nothing else. */
  readonly batchMs: number;
  /** Entries that wait unwritten and are still written when the process ends. */
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
  /** Resolves when all that was posted is acknowledged. */
  acknowledged(): Promise<void>;
  close(): void;
}

export interface OutboxOptions {
  /** The bytes of the batch are good until `release` is called. */
  readonly post: (batch: ServiceBatch, release: () => void) => void;
  readonly firstRowId?: number | undefined;
  readonly limits?: OutboxLimits | undefined;
}

/** Records that are written and wait for the window. */
interface WrittenBatch {
  readonly records: Buffer<ArrayBuffer>;
  readonly entries: number;
}

/**
 * Queues rows and log lines and posts them in batches. What does not fit is counted, never waited for.
 * A row that was posted while pending is never dropped when it ends, or it would look open for ever.
 */
export function createOutbox({ post, firstRowId = 1, limits = outboxLimits }: OutboxOptions): Outbox {
  let nextRowId = firstRowId;
  /** Entries that may change again, each with the bytes it was counted for: written when a batch leaves. */
  const queued = new Map<TrafficEntry, number>();
  /** Entries that ended are written at once: kept until a batch leaves, each would outlive two collections of the young generation. */
  const records = new RecordWriter();
  let recordEntries = 0;
  const full: WrittenBatch[] = [];
  let fullBytes = 0;
  let fullEntries = 0;
  const logs = new LogWriter();
  const announced = new Set<TrafficEntry>();
  /** Counted as dropped so far: one that fits when it ends is a delivered row after all, and must not count twice. */
  const missed = new WeakSet<TrafficEntry>();
  let queuedBytes = 0;
  let droppedRows = 0;
  let droppedLogs = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** The batch before was full: the next one leaves in the next turn of the event loop. */
  let next: NodeJS.Immediate | undefined;
  let closed = false;
  const awaiting: (() => void)[] = [];

  const isFull = () =>
    queued.size + recordEntries + fullEntries >= limits.entries || queuedBytes + records.length + fullBytes >= limits.heldBytes;
  const isEmpty = () => queued.size === 0 && recordEntries === 0 && full.length === 0 && logs.lines === 0;

  function schedule() {
    if (next || closed || seq - acked >= window) return;
    if (full.length > 0 || queued.size + recordEntries >= limits.batchEntries) {
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
    if (isEmpty()) return;
    lastFlushAt = performance.now();
    if (full.length === 0) {
      writeQueued();
      sealRecords();
    }
    const batch = full.shift();
    if (batch) {
      fullBytes -= batch.records.length;
      fullEntries -= batch.entries;
    }
    const taken = batch?.records ?? nothing;
    const lines = logs.take();
    post({ seq: ++seq, records: taken, logs: lines, droppedRows, droppedLogs }, () => {
      if (batch) records.giveBack(batch.records);
      logs.giveBack(lines);
    });
    if (!isEmpty()) schedule();
  }

  function writeQueued() {
    let written = 0;
    for (const [entry, counted] of queued) {
      queuedBytes -= counted;
      queued.delete(entry);
      write(entry);
      written++;
      if (recordEntries >= limits.batchEntries || records.length >= limits.batchBytes) return;
      if (written % clockEvery === 0 && performance.now() - lastFlushAt >= limits.batchMs) return;
    }
  }

  function write(entry: TrafficEntry) {
    if (entry.open) announced.add(entry);
    else announced.delete(entry);
    records.begin();
    try {
      entry.write(records);
      records.end();
      recordEntries++;
    } catch {
      // A row that cannot be written must not take the service's process with it.
      records.undo();
      droppedRows++;
    }
  }

  function sealRecords() {
    if (recordEntries === 0) return;
    const batch = { records: records.take(), entries: recordEntries };
    full.push(batch);
    fullBytes += batch.records.length;
    fullEntries += batch.entries;
    recordEntries = 0;
  }

  /** Counts an entry that does not fit. */
  function leaveOut(entry: TrafficEntry) {
    if (!missed.has(entry)) droppedRows++;
    missed.add(entry);
  }

  return {
    nextId: () => nextRowId++,
    touch(entry) {
      if (closed) return;
      const counted = queued.get(entry);
      if (counted === undefined && !announced.has(entry) && isFull()) {
        leaveOut(entry);
        return;
      }
      if (droppedRows > 0 && missed.delete(entry)) droppedRows--;
      const held = entry.heldBytes;
      queued.set(entry, held);
      queuedBytes += held - (counted ?? 0);
      schedule();
    },
    end(entry) {
      if (closed) return;
      const counted = queued.get(entry);
      if (counted !== undefined) {
        queued.delete(entry);
        queuedBytes -= counted;
      } else if (!announced.has(entry) && isFull()) {
        leaveOut(entry);
        return;
      }
      if (droppedRows > 0 && missed.delete(entry)) droppedRows--;
      write(entry);
      if (records.length >= limits.batchBytes || recordEntries >= limits.batchEntries) sealRecords();
      schedule();
    },
    log(entry) {
      if (closed) return;
      if (logs.lines >= limits.logs || logs.bytes >= limits.heldBytes) {
        droppedLogs++;
        return;
      }
      logs.add(entry);
      schedule();
    },
    ack(upTo) {
      acked = Math.max(acked, upTo);
      if (acked >= seq) for (const resolve of awaiting.splice(0)) resolve();
      if (!isEmpty()) schedule();
    },
    flush() {
      // Writing a full queue takes long and delays the stop: the newest entries are sent, the rest is counted.
      let surplus = queued.size - limits.lastEntries;
      for (const [entry, counted] of queued) {
        if (surplus <= 0) break;
        if (announced.has(entry)) continue;
        queued.delete(entry);
        queuedBytes -= counted;
        droppedRows++;
        surplus--;
      }
      while (!isEmpty()) flushBatch();
      unschedule();
    },
    acknowledged: () => new Promise((resolve) => (acked >= seq ? resolve() : void awaiting.push(resolve))),
    close() {
      closed = true;
      for (const resolve of awaiting.splice(0)) resolve();
      unschedule();
      queued.clear();
      full.length = 0;
      announced.clear();
    },
  };
}

const nothing = Buffer.alloc(0);
