import { FairOrder } from "./fair-order.ts";

/** In a poll of the event loop, each with a piece of 64 KB or two. */
const readAtOnce = 16;

interface Client {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
}

/** Connections of which more can be read than is good for one poll: a few at once. Those who wait take turns: addresses, then the connections of each. */
export class ReadTurns<Connection extends Client> {
  readonly #order = new FairOrder<Connection>();
  readonly #waiting = new Map<Connection, () => void>();
  #immediate: NodeJS.Immediate | undefined;

  /** Calls `readOn` before the poll in which it is the connection's turn. */
  later(connection: Connection, readOn: () => void): void {
    this.#waiting.set(connection, readOn);
    this.#order.add(connection);
    this.#immediate ??= setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#immediate = undefined;
    for (let count = 0; count < readAtOnce; count++) {
      const connection = this.#order.take();
      if (!connection) return;
      const readOn = this.#waiting.get(connection);
      this.#waiting.delete(connection);
      readOn?.();
    }
    if (this.#waiting.size > 0) this.#immediate = setImmediate(this.#next);
  };

  /** What waits is not read. */
  close(): void {
    clearImmediate(this.#immediate);
    this.#order.clear();
    this.#waiting.clear();
  }
}
