const startRows = 1_024;

/** Position of a row's record; 0 if the row is open and not in the log. */
export interface RowPlace {
  readonly segment: number;
  readonly offset: number;
}

/** Rows by id in ascending order, with their positions in the log: 16 bytes per row, without objects. */
export class RowIndex {
  #ids = new Float64Array(startRows);
  #segments = new Uint32Array(startRows);
  #offsets = new Uint32Array(startRows);
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** `at` counts from the lowest id. */
  idAt(at: number): number {
    return this.#ids[this.#head + at] as number;
  }

  placeAt(at: number): RowPlace {
    return { segment: this.#segments[this.#head + at] as number, offset: this.#offsets[this.#head + at] as number };
  }

  /** Number of rows with a lower id. */
  below(id: number): number {
    let low = this.#head;
    let high = this.#head + this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low - this.#head;
  }

  /** -1 if there is no such row. */
  find(id: number): number {
    const at = this.below(id);
    return at < this.#size && this.idAt(at) === id ? at : -1;
  }

  /** Inserts a new id, which is nearly always the highest. */
  add(id: number, place: RowPlace): void {
    this.#makeRoom();
    const end = this.#head + this.#size;
    const at = this.#head + this.below(id);
    if (at < end) this.#move(at + 1, at, end);
    this.#ids[at] = id;
    this.#segments[at] = place.segment;
    this.#offsets[at] = place.offset;
    this.#size++;
  }

  set(at: number, place: RowPlace): void {
    this.#segments[this.#head + at] = place.segment;
    this.#offsets[this.#head + at] = place.offset;
  }

  /** Removes the row at `at`: evicted rows are nearly always among the lowest, so the rows below it are moved. */
  remove(at: number): void {
    const place = this.#head + at;
    this.#move(this.#head + 1, this.#head, place);
    this.#head++;
    this.#size--;
  }

  #move(to: number, from: number, end: number): void {
    for (const list of [this.#ids, this.#segments, this.#offsets]) list.copyWithin(to, from, end);
  }

  #makeRoom(): void {
    if (this.#head + this.#size < this.#ids.length) return;
    const grown = this.#size > this.#ids.length / 2 ? 2 * this.#ids.length : this.#ids.length;
    const [from, to] = [this.#head, this.#head + this.#size];
    const ids = new Float64Array(grown);
    const segments = new Uint32Array(grown);
    const offsets = new Uint32Array(grown);
    ids.set(this.#ids.subarray(from, to));
    segments.set(this.#segments.subarray(from, to));
    offsets.set(this.#offsets.subarray(from, to));
    this.#ids = ids;
    this.#segments = segments;
    this.#offsets = offsets;
    this.#head = 0;
  }
}
