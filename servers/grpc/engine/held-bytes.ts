import type { BudgetShare } from "../../core/limits/shared-budget.ts";

/** Memory of a call's messages that its handler holds, or that wait to be read, among what all calls may have. */
export class HeldBytes {
  readonly #share: BudgetShare;
  #bytes = 0;
  /** The call has ended. */
  isClosed = false;

  constructor(share: BudgetShare) {
    this.#share = share;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Fewer where it is negative. */
  add(bytes: number): void {
    if (this.isClosed) return;
    this.#bytes += bytes;
    this.#share.add(bytes);
  }

  close(): void {
    this.isClosed = true;
    this.#share.add(-this.#bytes);
    this.#bytes = 0;
  }
}
