import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { failureOf } from "./failure-error.ts";

/**
 * Calls `read` when asked, never twice at once; asked during a read, once more after it, however often, so that nothing that changed
 * meanwhile is missed. `read` handles its own failures.
 */
export function createRefresher(read: () => Promise<void>): () => Promise<void> {
  let isWanted = false;
  let running: Promise<void> | undefined;
  const run = async () => {
    while (isWanted) {
      isWanted = false;
      await read();
    }
    running = undefined;
  };
  return () => {
    isWanted = true;
    running ??= run();
    return running;
  };
}

/** An answer, and what had been asked. */
export interface Answered<Key, Answer> {
  readonly key: Key;
  readonly answer: Answer;
}

interface AnswerStoreOptions<Key, Answer> {
  readonly read: (key: Key) => Promise<Answer>;
  readonly onFailure: (error: unknown) => void;
}

/** The newest answer to a question that is asked again; it stays until there is a newer one, also to another question. */
export function createAnswerStore<Key, Answer>({ read, onFailure }: AnswerStoreOptions<Key, Answer>) {
  const listeners = new Set<() => void>();
  let wanted: Key | undefined;
  let newest: Answered<Key, Answer> | undefined;
  const refresh = createRefresher(async () => {
    const key = wanted;
    if (key === undefined) return;
    try {
      const answer = await read(key);
      newest = { key, answer };
      for (const listener of [...listeners]) listener();
    } catch (error) {
      if (key === wanted) onFailure(error);
    }
  });
  return {
    get: () => newest,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** With undefined nothing is asked any more. */
    ask(key: Key | undefined): Promise<void> {
      wanted = key;
      return refresh();
    },
  };
}

interface RefreshedOptions<Key, Answer> extends AnswerStoreOptions<Key, Answer> {
  /** What is asked about: a primitive; undefined for nothing. */
  readonly key: Key | undefined;
  /** With another one there may be something new to read. */
  readonly version?: unknown;
}

/** The newest answer, asked for whenever `key` or `version` changes. */
export function useRefreshed<Key extends string | number, Answer>(
  options: RefreshedOptions<Key, Answer>,
): Answered<Key, Answer> | undefined {
  const { key, version } = options;
  const read = useEffectEvent(options.read);
  const onFailure = useEffectEvent(options.onFailure);
  const [store] = useState(() => createAnswerStore<Key, Answer>({ read: (asked) => read(asked), onFailure: (error) => onFailure(error) }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that there may be something new to read.
  useEffect(() => {
    void store.ask(key);
  }, [store, key, version]);
  return useSyncExternalStore(store.subscribe, store.get);
}

/** A page says by itself that its service has stopped, and the frame that the connection is lost. */
export function isExpectedLoss(error: unknown): boolean {
  const { code } = failureOf(error);
  return code === "CONNECTION_LOST" || code === "SERVICE_NOT_RUNNING";
}
