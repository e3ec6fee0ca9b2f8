import type { History } from "../../../contract/history.ts";

/** Two minutes by second. */
const capacity = 120;

/** The newest values of a few series, for a plot: about half a kilobyte for each series. */
export class RecentSamples<Series extends string> {
  readonly #names: readonly Series[];
  /** NaN: there was no value. */
  readonly #values: readonly Float32Array[];
  readonly #at = new Float64Array(capacity);
  #count = 0;
  #newestAt = Number.NEGATIVE_INFINITY;

  constructor(names: readonly Series[]) {
    this.#names = names;
    this.#values = names.map(() => new Float32Array(capacity));
  }

  add(at: number, values: Readonly<Partial<Record<Series, number>>>): void {
    // The clock was set back. A plot needs times that go on.
    if (at < this.#newestAt) this.#count = 0;
    this.#newestAt = at;
    const place = this.#count++ % capacity;
    this.#at[place] = at;
    for (const [index, name] of this.#names.entries()) (this.#values[index] as Float32Array)[place] = values[name] ?? Number.NaN;
  }

  read(): History<Series> {
    const places = Array.from({ length: Math.min(capacity, this.#count) }, (_, index) => Math.max(0, this.#count - capacity) + index);
    const column = (values: ArrayLike<number>) => places.map((place) => nullOfNaN(values[place % capacity] as number));
    const series = Object.fromEntries(this.#names.map((name, index) => [name, column(this.#values[index] as Float32Array)]));
    return { at: places.map((place) => this.#at[place % capacity]), ...series } as unknown as History<Series>;
  }
}

const nullOfNaN = (value: number): number | null => (Number.isNaN(value) ? null : Math.round(value * 1_000) / 1_000);
