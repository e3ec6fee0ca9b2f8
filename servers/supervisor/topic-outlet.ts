import { type Topic, topicPolicies } from "../../contract/control.ts";
import { batchWindow, type DownFrame } from "../../contract/wire.ts";
import type { TopicHub } from "./topic-hub.ts";

/** One dashboard's subscription to one topic: a bounded number of batches a second, at most two unacknowledged. */
export interface TopicOutlet {
  ack(seq: number): void;
  close(): void;
}

/**
 * What does not fit a batch is counted in it as dropped, so that delivered + dropped is all there was.
 * The newest items are the ones that are sent.
 */
export function createTopicOutlet(topic: Topic, hub: TopicHub, post: (frame: DownFrame) => void): TopicOutlet {
  const policy = topicPolicies.get(topic);
  if (!policy) throw new Error(`no policy for topic ${topic}`);
  const { batchItems, batchesPerSecond } = policy;
  const key = policy.key as ((item: unknown) => string) | undefined;
  const newest = new Map<string, unknown>();
  const row = policy.row as { id: (item: unknown) => number; isOpen: (item: unknown) => boolean } | undefined;
  /** Items that were sent as open, and their newest state: never dropped. */
  const sentOpen = new Set<number>();
  const updates = new Map<number, unknown>();
  let list: unknown[] = [];
  let dropped = 0;
  let seq = 0;
  let acked = 0;
  let lastFlushAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const intervalMs = 1_000 / batchesPerSecond;

  function schedule() {
    if (timer || seq - acked >= batchWindow) return;
    timer = setTimeout(flush, Math.max(0, lastFlushAt + intervalMs - performance.now()));
  }

  function flush() {
    timer = undefined;
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
      items = [...updates.values(), ...items];
      updates.clear();
    }
    if (items.length === 0) return;
    if (row) for (const item of items) row.isOpen(item) ? sentOpen.add(row.id(item)) : sentOpen.delete(row.id(item));
    lastFlushAt = performance.now();
    post({ type: "batch", topic, seq: ++seq, items, dropped });
    dropped = 0;
  }

  const unsubscribe = hub.subscribe(topic, (items) => {
    if (key) for (const item of items) newest.set(key(item), item);
    else {
      for (const item of items) {
        if (row && sentOpen.has(row.id(item))) updates.set(row.id(item), item);
        else list.push(item);
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
      if (list.length > 0 || newest.size > 0 || updates.size > 0) schedule();
    },
    close() {
      unsubscribe();
      clearTimeout(timer);
    },
  };
}
