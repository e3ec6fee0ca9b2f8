import { type BudgetShare, SharedBudget } from "../../../core/limits/shared-budget.ts";

/** Of the bound: from there on each client has its share only. Those that came before may have more. */
const freePart = 3 / 4;

/** What was sent to clients and not read by them. */
export class UnreadLoad {
  bytes = 0;
  /** Clients that have left some. */
  private holders = 0;
  private readonly most: number;
  private readonly budget: SharedBudget;

  constructor(most = Number.POSITIVE_INFINITY) {
    this.most = most;
    this.budget = new SharedBudget(most);
  }

  /** For a client from this address; `end` is called when all leave too much and it has most: it is to be disconnected soon. */
  open(address: string, end: () => void): BudgetShare {
    const share = this.budget.open(address, () => {
      share.leave();
      end();
    });
    return share;
  }

  /** One of the clients has left so many bytes, after so many before. */
  changed(share: BudgetShare | undefined, before: number, now: number): void {
    this.bytes += now - before;
    this.holders += Number(now > 0) - Number(before > 0);
    share?.set(now);
  }

  /** All clients together leave much unread, and one with so many bytes more than its share. */
  isAboveShare(bytes: number): boolean {
    const most = this.most * freePart;
    return this.bytes > most && bytes > most / Math.max(1, this.holders);
  }
}
