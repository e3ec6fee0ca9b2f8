import type { WaitingCall } from "../../../contract/services/grpc-replies.ts";

interface Waiting extends WaitingCall {
  readonly release: () => void;
}

/** Calls that wait until a name is released: by a rule that another call matches, or on the page. */
export class Releases {
  readonly #waiting = new Map<number, Waiting>();
  readonly #onChange: () => void;
  #last = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Returns a function that ends the wait without a release. */
  wait(name: string, call: Pick<WaitingCall, "row" | "path">, release: () => void): () => void {
    const id = ++this.#last;
    this.#waiting.set(id, { id, name, row: call.row, path: call.path, since: Date.now(), release });
    this.#onChange();
    return () => {
      if (this.#waiting.delete(id)) this.#onChange();
    };
  }

  /** Releases all calls that wait for the name, or one of them. Calls that begin to wait later are not released. */
  release(name: string, id?: number): number {
    const released = [...this.#waiting.values()].filter((one) => one.name === name && (id === undefined || one.id === id));
    for (const one of released) this.#waiting.delete(one.id);
    if (released.length > 0) this.#onChange();
    for (const one of released) one.release();
    return released.length;
  }

  /** The longest first. */
  list(most: number): readonly WaitingCall[] {
    return [...this.#waiting.values()].slice(0, most).map(({ release: _, ...shown }) => shown);
  }
}
