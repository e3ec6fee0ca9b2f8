import { StatusError } from "./status.ts";

/** A call that has less is not counted. */
export const countedFrom = 64 << 10;

/** A call with messages, or beginnings of messages, of its client. */
export interface MessageHolder {
  fail(error: StatusError): void;
}

/** The memory that messages of clients take in all calls: those that are incomplete, being decompressed, or wait for the end of the request. */
export class HeldMessages {
  readonly #mostBytes: number;
  readonly #ofHolders = new Map<MessageHolder, number>();
  #total = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** What the holder has now; true if it is counted. Where all have more than the limit, the one that has most loses its call. */
  count(holder: MessageHolder, bytes: number): boolean {
    const counted = bytes < countedFrom ? 0 : bytes;
    this.#total += counted - (this.#ofHolders.get(holder) ?? 0);
    if (counted === 0) this.#ofHolders.delete(holder);
    else this.#ofHolders.set(holder, counted);
    while (this.#total > this.#mostBytes) this.#failLargest();
    return this.#ofHolders.has(holder);
  }

  #failLargest(): void {
    const [largest, bytes] = [...this.#ofHolders].reduce((one, other) => (other[1] > one[1] ? other : one));
    this.#ofHolders.delete(largest);
    this.#total -= bytes;
    largest.fail(
      new StatusError("RESOURCE_EXHAUSTED", `the messages of all calls have more than ${this.#mostBytes} bytes, and this call has most`),
    );
  }
}
