const halfLifeMs = 4_000;

/** What was used lately: half of it is forgotten with each few seconds. Times are in milliseconds of a steady clock. */
export class RecentUse {
  #amount = 0;
  #atMs = 0;

  add(amount: number, nowMs: number): void {
    this.#amount = this.at(nowMs) + amount;
    this.#atMs = nowMs;
  }

  at(nowMs: number): number {
    return this.#amount === 0 ? 0 : this.#amount * 0.5 ** ((nowMs - this.#atMs) / halfLifeMs);
  }
}
