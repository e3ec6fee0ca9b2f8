const turnMs = 4;

/**
 * A few bytes of a client may be much work. All clients together have some milliseconds of each turn of the event loop; who has more goes on
 * in the next one, in the order in which they stopped.
 */
export class WorkTurns {
  #endMs: number | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** In the order of their requests. */
  readonly #waiting = new Set<() => void>();

  /** The time of this turn is used up: what is left is to be done later. */
  get isOver(): boolean {
    const nowMs = performance.now();
    if (this.#endMs !== undefined) return nowMs >= this.#endMs;
    this.#endMs = nowMs + turnMs;
    this.#immediate ??= setImmediate(this.#next);
    return false;
  }

  /** Calls back once, in another turn. */
  later(goOn: () => void): void {
    this.#waiting.add(goOn);
    this.#immediate ??= setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#immediate = undefined;
    this.#endMs = undefined;
    for (const goOn of this.#waiting) {
      if (this.isOver) return;
      this.#waiting.delete(goOn);
      goOn();
    }
  };
}
