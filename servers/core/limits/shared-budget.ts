import { rateLimitKey } from "./rate-limit-client.ts";

/** What one connection has of a budget. */
export interface BudgetShare {
  /** What it has now. */
  readonly amount: number;
  /** What it has more now, or less where it is negative. */
  add(amount: number): void;
  /** All that it has now. */
  set(amount: number): void;
  /** The connection is being ended: nobody loses anything for what it has until that is returned, but it is held. */
  leave(): void;
  /** The connection is closed. What it has is returned by further calls of `add`. */
  close(): void;
}

/** Takes back so much, or as much as there is time for, by an `add` before it returns, or leaves. */
type Lose = (excess: number) => void;

/**
 * Bounds what is held for all clients together, such as memory. Nobody is refused before the bound. Beyond it those lose who have most: of the
 * addresses that with most, as one client may open thousands of connections, and of its connections that with most.
 */
export class SharedBudget {
  readonly #most: number;
  readonly #atOnce: number;
  readonly #shares = new Set<Share>();
  #total = 0;
  /** What those have that are being ended. */
  #leaving = 0;
  #isMakingRoom = false;

  /** `atOnce` is free again after the bound was exceeded: the larger it is, the more rarely those that have most are looked for. */
  constructor(most: number, atOnce = Math.floor(most / 16)) {
    this.#most = most;
    this.#atOnce = atOnce;
  }

  /** So little is free that who has some of it should wait for more. */
  get isScarce(): boolean {
    return this.#total > this.#most - 4 * this.#atOnce;
  }

  open(address: string, lose: Lose): BudgetShare {
    const share = new Share(this, rateLimitKey(address), lose);
    this.#shares.add(share);
    return share;
  }

  changed(share: Share, amount: number): void {
    share.amount += amount;
    this.#total += amount;
    if (share.isLeaving) this.#leaving += amount;
    if (share.isClosed && share.amount === 0) this.#shares.delete(share);
    if (this.#staying <= this.#most || amount < 0 || this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    this.#makeRoom(this.#most - this.#atOnce);
    this.#isMakingRoom = false;
  }

  get #staying(): number {
    return this.#total - this.#leaving;
  }

  #makeRoom(target: number): void {
    const ofKeys = Map.groupBy(
      [...this.#shares].filter(({ amount, isLeaving }) => amount > 0 && !isLeaving).sort((one, other) => one.amount - other.amount),
      ({ key }) => key,
    );
    const addresses = Array.from(ofKeys.values(), (shares) => ({ shares, amount: shares.reduce((sum, { amount }) => sum + amount, 0) }));
    while (this.#staying > target) {
      const largest = addresses.reduce((one, other) => (other.amount > one.amount ? other : one));
      const share = largest.shares.pop();
      if (!share) return;
      const before = share.amount;
      share.lose(this.#staying - target);
      // It has no time to lose more.
      const left = share.isLeaving ? 0 : share.amount;
      if (left > 0 && this.#staying > target) return;
      largest.amount = largest.shares.length === 0 ? 0 : largest.amount - before + left;
    }
  }

  left(share: Share): void {
    if (share.isLeaving) return;
    share.isLeaving = true;
    this.#leaving += share.amount;
  }

  closed(share: Share): void {
    share.isClosed = true;
    if (share.amount === 0) this.#shares.delete(share);
  }
}

class Share implements BudgetShare {
  readonly #budget: SharedBudget;
  readonly key: string;
  readonly lose: Lose;
  amount = 0;
  isClosed = false;
  isLeaving = false;

  constructor(budget: SharedBudget, key: string, lose: Lose) {
    this.#budget = budget;
    this.key = key;
    this.lose = lose;
  }

  add(amount: number): void {
    if (amount !== 0) this.#budget.changed(this, amount);
  }

  set(amount: number): void {
    this.add(amount - this.amount);
  }

  leave(): void {
    this.#budget.left(this);
  }

  close(): void {
    this.#budget.closed(this);
  }
}
