/** Lets one begin in each turn of the event loop, in their order: hundreds may come in one message, and each may be a long step. */
export class OneEachTurn {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  /** Undefined where it may begin at once. */
  begin(): Promise<void> | undefined {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    setImmediate(this.#next);
    return undefined;
  }

  readonly #next = (): void => {
    const first = this.#waiting.shift();
    this.#isTaken = first !== undefined;
    if (!first) return;
    setImmediate(this.#next);
    first();
  };
}
