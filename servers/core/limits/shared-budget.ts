import { rateLimitKey } from "./rate-limit-client.ts";

/** What one connection has of a budget. */
export interface BudgetShare {
  /** What it has more now, or less where it is negative. */
  add(amount: number): void;
  /** The connection is closed. What it has is returned by further calls of `add`. */
  close(): void;
}

/** Takes back so much, if the connection has it, by an `add` before it returns. */
type Lose = (excess: number) => void;

/** So much of the bound is free again after it was exceeded: what is above it is looked for rarely. */
const freed = 1 / 16;

/**
 * Bounds what is held for all clients together, such as memory. Nobody is refused before the bound. Beyond it those lose who have most: of the
 * addresses that with most, as one client may open thousands of connections, and of its connections that with most.
 */
export class SharedBudget {
  readonly #most: number;
  readonly #shares = new Set<Share>();
  #total = 0;
  #isMakingRoom = false;

  constructor(most: number) {
    this.#most = most;
  }

  open(address: string, lose: Lose): BudgetShare {
    const share = new Share(this, rateLimitKey(address), lose);
    this.#shares.add(share);
    return share;
  }

  changed(share: Share, amount: number): void {
    share.amount += amount;
    this.#total += amount;
    if (share.isClosed && share.amount === 0) this.#shares.delete(share);
    if (this.#total <= this.#most || amount < 0 || this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    this.#makeRoom(Math.floor(this.#most * (1 - freed)));
    this.#isMakingRoom = false;
  }

  #makeRoom(target: number): void {
    const ofKeys = Map.groupBy(
      [...this.#shares].filter(({ amount }) => amount > 0).sort((one, other) => one.amount - other.amount),
      ({ key }) => key,
    );
    const addresses = Array.from(ofKeys.values(), (shares) => ({ shares, amount: shares.reduce((sum, { amount }) => sum + amount, 0) }));
    while (this.#total > target) {
      const largest = addresses.reduce((one, other) => (other.amount > one.amount ? other : one));
      const share = largest.shares.pop();
      if (!share) return;
      const before = share.amount;
      share.lose(this.#total - target);
      largest.amount = largest.shares.length === 0 ? 0 : largest.amount - before + share.amount;
    }
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

  constructor(budget: SharedBudget, key: string, lose: Lose) {
    this.#budget = budget;
    this.key = key;
    this.lose = lose;
  }

  add(amount: number): void {
    if (amount !== 0) this.#budget.changed(this, amount);
  }

  close(): void {
    this.#budget.closed(this);
  }
}
