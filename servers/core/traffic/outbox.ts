import type { ServiceBatch } from "../service/link.ts";
import type { LogEntry } from "../service/log.ts";
import { LogWriter } from "../service/log.ts";
import { notQueued, type TrafficEntry, type TrafficSink } from "../service/service.ts";
import { RecordWriter } from "./record-writer.ts";

export interface OutboxLimits {
  /** Entries that wait, written or not. */
  readonly entries: number;
  /** Bytes of the waiting entries, and separately of the waiting log lines. */
  readonly heldBytes: number;
  readonly logs: number;
  /** Entries in one batch. */
  readonly batchEntries: number;
  /** A batch of this size is sent; the rest waits for the next turn of the event loop. */
  readonly batchBytes: number;
  /** A batch that took this long is sent too: while it is written the service does nothing else. */
  readonly batchMs: number;
  /** Sent batches that the supervisor has not stored yet. Acknowledgements are read once in a turn of the event loop, which is long under load. */
  readonly unacknowledged: number;
  /** Most waiting entries that are still written when the process ends. */
  readonly lastEntries: number;
  /** Shortest time between two batches; the first one after a pause is sent immediately, and so is a full one. */
  readonly intervalMs: number;
}

export const outboxLimits: OutboxLimits = {
  entries: 20_000,
  heldBytes: 16 << 20,
  logs: 20_000,
  batchEntries: 250,
  batchBytes: 256 << 10,
  batchMs: 1,
  unacknowledged: 8,
  lastEntries: 2_000,
  intervalMs: 50,
};

/** Entries that stay open may hold so many batches of parts before they are written: those that are about to end hold less. */
const batchesOfBytes = 4;

/** Reading the clock costs about as much as writing a short record. */
const clockEvery = 8;

export interface Outbox extends TrafficSink {
  log(entry: LogEntry): void;
  ack(seq: number): void;
  /** Sends what is queued, regardless of the window: for a process that is about to exit. */
  flush(): void;
  /** Resolves when everything posted is acknowledged. */
  acknowledged(): Promise<void>;
  close(): void;
}

export interface OutboxOptions {
  /** The bytes of the batch are valid until `release` is called. */
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
 * Queues rows and log lines and posts them in batches. What does not fit is dropped and counted; nothing waits.
 * A row that was posted while pending is never dropped when it ends, or it would look open forever.
 */
export function createOutbox({ post, firstRowId = 1, limits = outboxLimits }: OutboxOptions): Outbox {
  let nextRowId = firstRowId;
  /** Entries that may change again: written when a batch is sent. */
  const queued = new EntryQueue();
  /** Ended entries are written immediately: kept until a batch is sent, each would survive two collections of the young generation. */
  const records = new RecordWriter();
  let recordEntries = 0;
  const full: WrittenBatch[] = [];
  let fullBytes = 0;
  let fullEntries = 0;
  const logs = new LogWriter();
  /** Counted as dropped so far: one that fits when it ends is a delivered row after all, and must not count twice. */
  const missed = new WeakSet<TrafficEntry>();
  let droppedRows = 0;
  let droppedLogs = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** The previous batch was full: the next one is sent in the next turn of the event loop. */
  let next: NodeJS.Immediate | undefined;
  let closed = false;
  const awaiting: (() => void)[] = [];

  const holdsTooMuch = () => queued.bytes + records.length + fullBytes >= limits.heldBytes;
  const isFull = () => queued.size + recordEntries + fullEntries >= limits.entries || holdsTooMuch();
  const isEmpty = () => queued.size === 0 && recordEntries === 0 && full.length === 0 && logs.lines === 0;

  const mayPost = () => seq - acked < limits.unacknowledged;

  function schedule() {
    if (closed) return;
    // These are written already; to send them takes little.
    while (full.length > 0 && mayPost()) postBatch();
    if (next || isEmpty() || !mayPost()) return;
    // Ended entries make full batches by themselves. With them, entries that are about to end would be written once more, while they are open.
    if (queued.size >= limits.batchEntries || queued.bytes >= batchesOfBytes * limits.batchBytes) {
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
    if (full.length === 0) {
      writeQueued();
      sealRecords();
    }
    postBatch();
    if (!isEmpty()) schedule();
  }

  /** Posts the oldest written batch, or log lines alone. */
  function postBatch() {
    lastFlushAt = performance.now();
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
  }

  function writeQueued() {
    let written = 0;
    const startedAt = performance.now();
    for (let entry = queued.oldest(); entry; entry = queued.oldest()) {
      queued.remove(entry);
      write(entry);
      written++;
      if (recordEntries >= limits.batchEntries || records.length >= limits.batchBytes) return;
      if (written % clockEvery === 0 && performance.now() - startedAt >= limits.batchMs) return;
    }
  }

  function write(entry: TrafficEntry) {
    entry.isAnnounced = entry.open;
    records.begin();
    try {
      entry.write(records);
      records.end();
      recordEntries++;
    } catch {
      // A row that cannot be written must not end the service's process.
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
      // The parts of a row that goes on have no other bound for all rows together.
      if (holdsTooMuch()) entry.dropParts?.();
      if (!queued.has(entry) && !entry.isAnnounced && isFull()) {
        leaveOut(entry);
        entry.dropParts?.();
        return;
      }
      if (droppedRows > 0 && missed.delete(entry)) droppedRows--;
      queued.put(entry);
      schedule();
    },
    end(entry) {
      if (closed) return;
      if (queued.has(entry)) queued.remove(entry);
      else if (!entry.isAnnounced && isFull()) {
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
      // Writing a full queue takes long and would delay the stop: the newest entries are sent, the rest is counted as dropped.
      let surplus = queued.size - limits.lastEntries;
      for (const entry of queued.entries()) {
        if (surplus <= 0) break;
        if (entry.isAnnounced) continue;
        queued.remove(entry);
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
    },
  };
}

/**
 * Entries in the order in which they were queued. Each stores its slot: a Map would allocate a new table every few thousand
 * entries, which the old generation would have to collect.
 */
class EntryQueue {
  size = 0;
  /** Bytes that the entries held when they were last put. */
  bytes = 0;
  /** Undefined for a removed entry. */
  readonly #slots: (TrafficEntry | undefined)[] = [];
  readonly #counted: number[] = [];
  /** Slots before `first` and from `end` on are free. */
  #first = 0;
  #end = 0;

  has(entry: TrafficEntry): boolean {
    return entry.queueSlot !== notQueued;
  }

  put(entry: TrafficEntry): void {
    if (entry.queueSlot === notQueued) {
      if (this.#end > 2 * this.size + slackSlots) this.#compact();
      entry.queueSlot = this.#end;
      this.#slots[this.#end] = entry;
      this.#counted[this.#end++] = 0;
      this.size++;
    }
    const held = entry.heldBytes;
    this.bytes += held - (this.#counted[entry.queueSlot] as number);
    this.#counted[entry.queueSlot] = held;
  }

  remove(entry: TrafficEntry): void {
    this.bytes -= this.#counted[entry.queueSlot] as number;
    this.#slots[entry.queueSlot] = undefined;
    entry.queueSlot = notQueued;
    if (--this.size > 0) return;
    this.#first = 0;
    this.#end = 0;
  }

  oldest(): TrafficEntry | undefined {
    if (this.size === 0) return undefined;
    while (!this.#slots[this.#first]) this.#first++;
    return this.#slots[this.#first];
  }

  entries(): TrafficEntry[] {
    return this.#slots.slice(this.#first, this.#end).filter((entry) => entry !== undefined);
  }

  clear(): void {
    for (const entry of this.entries()) this.remove(entry);
  }

  #compact(): void {
    let to = 0;
    for (let from = this.#first; from < this.#end; from++) {
      const entry = this.#slots[from];
      if (!entry) continue;
      this.#slots[from] = undefined;
      this.#slots[to] = entry;
      this.#counted[to] = this.#counted[from] as number;
      entry.queueSlot = to++;
    }
    this.#first = 0;
    this.#end = to;
  }
}

/** Free slots between entries that are tolerated. */
const slackSlots = 1_024;

const nothing = Buffer.alloc(0);
