/** Results by key, so that they are not computed again. A full cache is emptied. */
export class BoundedCache<Key, Value> {
  readonly #most: number;
  readonly #values = new Map<Key, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The result that is kept for the key, or a new one. Undefined is not kept. */
  get(key: Key, compute: (key: Key) => Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const value = compute(key);
    if (this.#values.size >= this.#most) this.#values.clear();
    if (value !== undefined) this.#values.set(key, value);
    return value;
  }

  delete(key: Key): void {
    this.#values.delete(key);
  }

  clear(): void {
    this.#values.clear();
  }
}
