import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";

/** What a stream keeps for its next players, what its source has received in part, and what faults hold back for its readers. */
type MemoryPart = "kept" | "begun" | "delayed";

/** The part of one stream of the memory of all streams. */
export class StreamMemory {
  readonly #budget: SharedBudget;
  readonly #owner: string;
  readonly #lose: () => void;
  readonly #bytes: Record<MemoryPart, number> = { kept: 0, begun: 0, delayed: 0 };
  /** From the first bytes on: a source may be made and never begin. */
  #share: BudgetShare | undefined;
  #isClosed = false;

  /** `owner`: the address of who sends it. `lose` gives up all. */
  constructor(budget: SharedBudget, owner: string, lose: () => void) {
    this.#budget = budget;
    this.#owner = owner;
    this.#lose = lose;
  }

  set(part: MemoryPart, bytes: number): void {
    if (this.#isClosed || this.#bytes[part] === bytes) return;
    this.#bytes[part] = bytes;
    this.#share ??= this.#budget.open(this.#owner, () => this.#lose());
    this.#share.set(this.#bytes.kept + this.#bytes.begun + this.#bytes.delayed);
  }

  close(): void {
    this.#isClosed = true;
    this.#share?.set(0);
    this.#share?.close();
  }
}
