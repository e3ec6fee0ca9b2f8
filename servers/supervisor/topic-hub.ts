import type { Topic, Topics } from "../../contract/control.ts";
import { topicPolicies } from "../../contract/control.ts";

/** Typed publish and subscribe. A keyed topic stores the newest item per key, with which a new subscriber starts. */
export interface TopicHub {
  publish<T extends Topic>(topic: T, item: Topics[T]): void;
  publishAll<T extends Topic>(topic: T, items: readonly Topics[T][]): void;
  subscribe<T extends Topic>(topic: T, listener: (items: readonly Topics[T][]) => void): () => void;
  /** Whether there are subscribers: check it before building an expensive item. */
  hasSubscribers(topic: Topic): boolean;
  /** Calls back when a topic gets its first subscriber and when it loses its last one. */
  onWatched(topic: Topic, listener: (watched: boolean) => void): void;
}

type Listener = (items: readonly unknown[]) => void;

export function createTopicHub(): TopicHub {
  const listeners = new Map<Topic, Set<Listener>>();
  const newest = new Map<Topic, Map<string, unknown>>();
  const watchers = new Map<Topic, (watched: boolean) => void>();

  function publishAll(topic: Topic, items: readonly unknown[]) {
    if (items.length === 0) return;
    const key = topicPolicies.get(topic)?.key as ((item: unknown) => string) | undefined;
    if (key) {
      const remembered = newest.get(topic) ?? new Map<string, unknown>();
      for (const item of items) remembered.set(key(item), item);
      newest.set(topic, remembered);
    }
    for (const listener of listeners.get(topic) ?? []) listener(items);
  }

  return {
    publish: (topic, item) => publishAll(topic, [item]),
    publishAll,
    subscribe(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set);
      set.add(listener as Listener);
      if (set.size === 1) watchers.get(topic)?.(true);
      const remembered = newest.get(topic);
      if (remembered && remembered.size > 0) (listener as Listener)([...remembered.values()]);
      return () => {
        if (set.delete(listener as Listener) && set.size === 0) watchers.get(topic)?.(false);
      };
    },
    hasSubscribers: (topic) => (listeners.get(topic)?.size ?? 0) > 0,
    onWatched: (topic, listener) => void watchers.set(topic, listener),
  };
}
