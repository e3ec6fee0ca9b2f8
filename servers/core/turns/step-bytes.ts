interface Bounds {
  readonly least: number;
  readonly first: number;
  readonly most: number;
}

/** How many bytes a parser gets at once, which may be a few large items or hundreds of small ones: fewer, where the last ones took the time of a share. */
export class StepBytes {
  readonly #bounds: Bounds;
  #bytes: number;

  constructor(bounds: Bounds = { least: 512, first: 1 << 10, most: 16 << 10 }) {
    this.#bounds = bounds;
    this.#bytes = bounds.first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** To be called after each step, with whether the share of the connection is over. */
  took(isOver: boolean): void {
    const { least, most } = this.#bounds;
    this.#bytes = isOver ? Math.max(least, this.#bytes / 2) : Math.min(most, this.#bytes * 2);
  }
}
