/**
 * The messages of one client in their order. While it is held its socket is not read, and what was read already waits; then it is one message in a
 * turn of the event loop.
 */
export class ClientInput<Message> {
  readonly #take: (message: Message) => void;
  readonly #setReading: (isReading: boolean) => void;
  #waiting: Message[] = [];
  #holds = 0;
  #next: NodeJS.Immediate | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(take: (message: Message) => void, setReading: (isReading: boolean) => void) {
    this.#take = take;
    this.#setReading = setReading;
  }

  get isHeld(): boolean {
    return this.#holds > 0 || this.#waiting.length > 0;
  }

  receive(message: Message): void {
    if (this.isHeld) this.#waiting.push(message);
    else this.#take(message);
  }

  hold(): void {
    this.#holds++;
    if (this.#holds === 1) this.#setReading(false);
  }

  release(): void {
    this.#holds--;
    this.#continue();
  }

  /** The connection has ended: calls back once, behind what waits. */
  end(onEmpty: () => void): void {
    this.#onEmpty = onEmpty;
    if (!this.isHeld) this.#continue();
  }

  /** What waits is never taken. */
  clear(): void {
    this.#waiting = [];
  }

  #continue(): void {
    if (this.#holds > 0) return;
    if (this.#waiting.length > 0) {
      this.#next ??= setImmediate(() => this.#takeNext());
      return;
    }
    this.#setReading(true);
    this.#onEmpty?.();
    this.#onEmpty = undefined;
  }

  #takeNext(): void {
    this.#next = undefined;
    if (this.#holds > 0) return;
    const message = this.#waiting.shift();
    if (message !== undefined) this.#take(message);
    this.#continue();
  }
}
