import { type Topic, topicPolicies } from "../../contract/control.ts";
import { batchWindow, type DownFrame } from "../../contract/wire.ts";
import type { TopicHub } from "./topic-hub.ts";

/** One dashboard's subscription to one topic: a bounded number of batches a second, at most two unacknowledged. */
export interface TopicOutlet {
  ack(seq: number): void;
  close(): void;
}

/** Shortest interval between two states of an open row. */
const openRowMs = 1_000;

/**
 * Items that do not fit into a batch are counted in it as dropped, so delivered + dropped is the total.
 * The newest items are sent.
 */
export function createTopicOutlet(topic: Topic, hub: TopicHub, post: (frame: DownFrame) => void): TopicOutlet {
  const policy = topicPolicies.get(topic);
  if (!policy) throw new Error(`no policy for topic ${topic}`);
  const { batchItems, batchesPerSecond } = policy;
  const key = policy.key as ((item: unknown) => string) | undefined;
  const newest = new Map<string, unknown>();
  const row = policy.row as { id: (item: unknown) => number; isOpen: (item: unknown) => boolean } | undefined;
  /** When each open item was last sent. */
  const sentOpen = new Map<number, number>();
  /** Their ends, and newer states of those that are still open, in the order in which they wait; never dropped. */
  const ends = new Map<number, unknown>();
  const updates = new Map<number, unknown>();
  let list: unknown[] = [];
  let dropped = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  /** For updates that are not due yet. */
  let updateTimer: NodeJS.Timeout | undefined;
  const intervalMs = 1_000 / batchesPerSecond;

  function schedule() {
    if (timer || seq - acked >= batchWindow) return;
    timer = setTimeout(flush, Math.max(0, lastFlushAt + intervalMs - performance.now()));
  }

  /** Ends at once, and newer states when they are due: no more than a batch has. */
  function takeUpdates(now: number): unknown[] {
    const due: unknown[] = [];
    for (const [id, item] of ends) {
      if (due.length === batchItems) break;
      due.push(item);
      ends.delete(id);
    }
    let waitMs = ends.size > 0 ? 0 : Number.POSITIVE_INFINITY;
    for (const [id, item] of updates) {
      if (due.length === batchItems) {
        waitMs = 0;
        break;
      }
      const restMs = (sentOpen.get(id) ?? 0) + openRowMs - now;
      if (restMs > 0) waitMs = Math.min(waitMs, restMs);
      else {
        due.push(item);
        updates.delete(id);
      }
    }
    clearTimeout(updateTimer);
    updateTimer = undefined;
    if (waitMs < Number.POSITIVE_INFINITY) {
      updateTimer = setTimeout(() => {
        updateTimer = undefined;
        schedule();
      }, waitMs);
    }
    return due;
  }

  function flush() {
    timer = undefined;
    const now = performance.now();
    let items: unknown[];
    if (key) {
      items = [...newest.values()];
      newest.clear();
    } else {
      items = list;
      list = [];
      if (items.length > batchItems) {
        dropped += items.length - batchItems;
        items = items.slice(-batchItems);
      }
      items = [...takeUpdates(now), ...items];
    }
    if (items.length === 0) return;
    if (row) for (const item of items) row.isOpen(item) ? sentOpen.set(row.id(item), now) : sentOpen.delete(row.id(item));
    lastFlushAt = now;
    post({ type: "batch", topic, seq: ++seq, items, dropped });
    dropped = 0;
  }

  const unsubscribe = hub.subscribe(topic, (items) => {
    if (key) for (const item of items) newest.set(key(item), item);
    else {
      for (const item of items) {
        const id = row && sentOpen.has(row.id(item)) ? row.id(item) : undefined;
        if (id === undefined) list.push(item);
        else if (row?.isOpen(item)) updates.set(id, item);
        else {
          updates.delete(id);
          ends.set(id, item);
        }
      }
      if (list.length > batchItems * 2) {
        dropped += list.length - batchItems;
        list = list.slice(-batchItems);
      }
    }
    schedule();
  });

  return {
    ack(upTo) {
      // An acknowledgement beyond what was sent is ignored.
      acked = Math.max(acked, Math.min(upTo, seq));
      if (list.length > 0 || newest.size > 0 || updates.size > 0 || ends.size > 0) schedule();
    },
    close() {
      unsubscribe();
      clearTimeout(timer);
      clearTimeout(updateTimer);
    },
  };
}
