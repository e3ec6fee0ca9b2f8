import { createHmac, randomBytes } from "node:crypto";

export interface Remembered {
  readonly userId: number;
  /** `User.credentials` when they were right. */
  readonly credentials: number;
}

/** Credentials that were right a short while ago, by a keyed digest: they cannot be guessed from what is stored. */
export interface BasicCache {
  digest(credentials: string): string;
  get(digest: string): Remembered | undefined;
  add(digest: string, remembered: Remembered): void;
  forgetUser(userId: number): void;
  forgetAll(): void;
}

const most = 10_000;

export function createBasicCache({
  lastsMs,
  now = () => performance.now(),
}: {
  readonly lastsMs: number;
  readonly now?: () => number;
}): BasicCache {
  const key = randomBytes(32);
  const kept = new Map<string, Remembered & { readonly until: number }>();
  return {
    digest: (credentials) => createHmac("sha256", key).update(credentials).digest("base64"),
    get(digest) {
      const found = kept.get(digest);
      if (found && found.until > now()) return found;
      kept.delete(digest);
      return undefined;
    },
    add(digest, { userId, credentials }) {
      if (lastsMs === 0) return;
      if (kept.size >= most) kept.delete(kept.keys().next().value as string);
      kept.set(digest, { userId, credentials, until: now() + lastsMs });
    },
    forgetUser(userId) {
      for (const [digest, remembered] of kept) if (remembered.userId === userId) kept.delete(digest);
    },
    forgetAll: () => kept.clear(),
  };
}
