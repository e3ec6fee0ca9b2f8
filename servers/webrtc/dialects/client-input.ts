import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";

/**
 * The messages of one client in their order. While it is held its socket is not read, and what was read already waits; then they are taken in its
 * turns. A message that is taken must not throw.
 */
export class ClientInput<Message> {
  readonly #take: (message: Message) => void;
  readonly #setReading: (isReading: boolean) => void;
  #waiting: Message[] = [];
  #holds = 0;
  readonly #share: WorkShare;
  /** Its turn comes. */
  #isDue = false;
  #isTaking = false;
  #onEmpty: (() => void) | undefined;

  constructor(work: WorkConnection, take: (message: Message) => void, setReading: (isReading: boolean) => void) {
    this.#share = work.join(this.#goOn);
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

  readonly #goOn = (): void => {
    this.#isDue = false;
    this.#continue();
  };

  #continue(): void {
    if (this.#isTaking || this.#isDue) return;
    this.#isTaking = true;
    while (this.#holds === 0 && this.#waiting.length > 0 && !this.#share.isOver) this.#take(this.#waiting.shift() as Message);
    this.#isTaking = false;
    if (this.#holds > 0) return;
    if (this.#waiting.length > 0) {
      this.#isDue = true;
      this.#share.later();
      return;
    }
    this.#setReading(true);
    this.#onEmpty?.();
    this.#onEmpty = undefined;
  }
}
