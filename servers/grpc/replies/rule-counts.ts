import type { ReplyCount } from "../../../contract/services/grpc-replies.ts";

interface Count {
  matched: number;
  /** Matches that the rule was to answer. */
  taken: number;
  answered: number;
  lastAt: number;
}

/** How often each rule matched and answered. The count stays when a rule is moved, enabled, disabled or loaded again. */
export class RuleCounts {
  #counts = new Map<string, Count>();
  #changed = true;

  /** Counts a match. Returns the number of this match and of this answer, from 1; undefined if the rule does not answer. */
  match({ key, times, every }: { readonly key: string; readonly times: number | undefined; readonly every: number | undefined }) {
    const count = this.#counts.get(key) ?? { matched: 0, taken: 0, answered: 0, lastAt: 0 };
    this.#counts.set(key, count);
    this.#changed = true;
    count.matched++;
    count.lastAt = Date.now();
    if (every !== undefined && count.matched % every !== 0) return undefined;
    if (times !== undefined && count.taken >= times) return undefined;
    count.taken++;
    return { match: count.matched, answer: count.taken };
  }

  /** An answer is given: the call of its match has not ended before. */
  answer(key: string): void {
    const count = this.#counts.get(key);
    if (!count) return;
    count.answered++;
    this.#changed = true;
  }

  /** Of one rule, or of all. */
  reset(key?: string): void {
    if (key === undefined) this.#counts.clear();
    else this.#counts.delete(key);
    this.#changed = true;
  }

  /** Forgets the counts of rules that are gone. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of [...this.#counts.keys()]) if (!keys.has(key)) this.#counts.delete(key);
    this.#changed = true;
  }

  list(): readonly ReplyCount[] {
    return [...this.#counts].map(([key, { matched, answered, lastAt }]) => ({ key, matched, answered, lastAt }));
  }

  /** The list; undefined if it has not changed since the last time. */
  takeChanged(): readonly ReplyCount[] | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    return this.list();
  }
}
