import type { RowIndex } from "./row-index.ts";

interface Cleared {
  readonly upTo: number;
  /** Ids of the rows that were open when the others were cleared, ascending. */
  readonly spared: number[];
}

const nothing = (): Cleared => ({ upTo: 0, spared: [] });

/** Which of the kept rows are shown: those that have begun since the last clear, and those that were open then. */
export class ShownRows {
  readonly #index: Pick<RowIndex, "size" | "below" | "find" | "idAt">;
  #cleared = nothing();
  /** Before the last clear. */
  #before = nothing();

  constructor(index: Pick<RowIndex, "size" | "below" | "find" | "idAt">) {
    this.#index = index;
  }

  get count(): number {
    return this.#index.size - this.#index.below(this.#cleared.upTo + 1) + this.#cleared.spared.length;
  }

  /** Hides the rows up to an id but for the open ones. */
  clear(upTo: number, open: Iterable<number>): void {
    this.#before = this.#cleared;
    this.#cleared = { upTo, spared: Array.from(open).sort((one, other) => one - other) };
  }

  /** Undoes the last clear. */
  restore(): void {
    this.#cleared = this.#before;
  }

  /** The row is no longer kept. */
  drop(id: number): void {
    for (const { spared } of [this.#cleared, this.#before]) {
      const place = belowIn(spared, id);
      if (spared[place] === id) spared.splice(place, 1);
    }
  }

  /** The place in the index of a row that is shown; -1 if it is not, or not kept. */
  find(id: number): number {
    const { upTo, spared } = this.#cleared;
    return id > upTo || spared[belowIn(spared, id)] === id ? this.#index.find(id) : -1;
  }

  /** The place of the newest row with a lower id; -1 if there is none. */
  before(id: number): number {
    const at = this.#index.below(id) - 1;
    if (at >= 0 && this.#index.idAt(at) > this.#cleared.upTo) return at;
    const { spared } = this.#cleared;
    const lower = spared[belowIn(spared, id) - 1];
    return lower === undefined ? -1 : this.#index.find(lower);
  }

  /** The place of the oldest row with a higher id; -1 if there is none. */
  after(id: number): number {
    const { upTo, spared } = this.#cleared;
    const higher = id < upTo ? spared[belowIn(spared, id + 1)] : undefined;
    if (higher !== undefined) return this.#index.find(higher);
    const at = this.#index.below(Math.max(id, upTo) + 1);
    return at < this.#index.size ? at : -1;
  }
}

/** How many of the ids are lower. */
function belowIn(ids: readonly number[], id: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as number) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
