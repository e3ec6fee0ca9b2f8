import { FairOrder } from "./fair-order.ts";
import { JobSlots } from "./job-slots.ts";

interface Client {
  /** Of its address, as `rateLimitKey` has it. */
  readonly key: string;
}

/** Jobs of libuv's threads, such as to decompress: a few at once. Those who wait take turns: addresses, then the connections of each. */
export class ThreadTurns<Connection extends Client> {
  readonly #order = new FairOrder<Connection>();
  readonly #waiting = new Map<Connection, (() => void)[]>();
  readonly #slots = new JobSlots(() => this.#beginNext());

  /** Settles as the job does. */
  run<Result>(connection: Connection, job: () => Promise<Result>): Promise<Result> {
    if (!this.#slots.isFull) return this.#slots.run(job);
    return new Promise((resolve) => {
      const begin = () => resolve(this.#slots.run(job));
      const ofOne = this.#waiting.get(connection);
      if (ofOne) ofOne.push(begin);
      else this.#waiting.set(connection, [begin]);
      this.#order.add(connection);
    });
  }

  #beginNext(): void {
    const connection = this.#order.take();
    const ofOne = connection && this.#waiting.get(connection);
    if (!ofOne) return;
    const begin = ofOne.shift();
    if (ofOne.length > 0) this.#order.add(connection);
    else this.#waiting.delete(connection);
    begin?.();
  }

  /** What waits is not done. */
  close(): void {
    this.#order.clear();
    this.#waiting.clear();
  }
}
