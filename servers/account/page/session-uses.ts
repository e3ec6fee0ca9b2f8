import type { AccountStore } from "../store/account-store.ts";

interface SessionUsesOptions {
  readonly store: Pick<AccountStore, "sessions" | "write" | "together">;
  readonly now: () => number;
}

export interface SessionUses {
  /** When the session was used last, as far as that is not stored yet. */
  get(sessionId: string): number | undefined;
  note(sessionId: string): void;
  /** Stores what is left. */
  close(): void;
}

/** Sessions that wait to be stored at most; of more the ones longest unused are left out. */
const mostWaiting = 10_000;
const everyMs = 2_000;
/** Sessions in one write: each takes some microseconds, and requests go on between two writes. */
const atOnce = 200;

/** When each session was used last: every request is a use, so they are stored some time later, many together. */
export function createSessionUses({ store, now }: SessionUsesOptions): SessionUses {
  const waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function putSome(): readonly (readonly [string, number])[] {
    const some: (readonly [string, number])[] = [];
    for (const [id, at] of waiting) {
      if (some.length === atOnce) break;
      store.sessions.setUsed(id, at);
      some.push([id, at]);
    }
    return some;
  }
  /** A session that was used again meanwhile stays. */
  function forget(stored: readonly (readonly [string, number])[]): void {
    for (const [id, at] of stored) if (waiting.get(id) === at) waiting.delete(id);
  }
  async function putAll(): Promise<void> {
    let isStored = true;
    // What is wrong with the file is told by the requests that need it; here it is tried again later.
    await store.write(putSome).then(forget, () => {
      isStored = false;
    });
    timer = undefined;
    if (waiting.size > 0) later(isStored ? 0 : everyMs);
  }
  function later(ms: number): void {
    if (!isClosed) timer ??= setTimeout(() => void putAll(), ms);
  }

  return {
    get: (sessionId) => waiting.get(sessionId),
    note(sessionId) {
      // Moved to the end: the one longest unused is left out first.
      waiting.delete(sessionId);
      if (waiting.size >= mostWaiting) waiting.delete(waiting.keys().next().value as string);
      waiting.set(sessionId, now());
      later(everyMs);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      try {
        while (waiting.size > 0) forget(store.together(putSome));
      } catch {
        // The file is held by another program, or gone: the times are lost.
      }
    },
  };
}
