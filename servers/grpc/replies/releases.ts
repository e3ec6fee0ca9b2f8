import type { WaitingCall } from "../../../contract/services/grpc-replies.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";

interface Waiting extends WaitingCall {
  readonly release: () => void;
}

/** Calls that wait until a name is released: by a rule that another call matches, or on the page. */
export class Releases {
  /** By their number, the oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  /** The same by name. */
  readonly #ofNames = new Map<string, Map<number, Waiting>>();
  readonly #onChange: () => void;
  #last = 0;

  readonly #turns: Pick<WorkTurns, "each">;

  /** Thousands may be released at once: that is done in the turns of all clients. */
  constructor(turns: Pick<WorkTurns, "each">, onChange: () => void) {
    this.#turns = turns;
    this.#onChange = onChange;
  }

  /** Returns a function that ends the wait without a release. */
  wait(name: string, call: Pick<WaitingCall, "row" | "path">, release: () => void): () => void {
    const id = ++this.#last;
    const waiting = { id, name, row: call.row, path: call.path, since: Date.now(), release };
    this.#waiting.set(id, waiting);
    const ofName = this.#ofNames.get(name) ?? new Map<number, Waiting>();
    this.#ofNames.set(name, ofName.set(id, waiting));
    this.#onChange();
    return () => {
      if (!this.#waiting.has(id)) return;
      this.#forget(waiting);
      this.#onChange();
    };
  }

  /** Releases all calls that wait for the name, or one of them. Calls that begin to wait later are not released. */
  release(name: string, id?: number): number {
    const ofName = this.#ofNames.get(name);
    const released =
      ofName === undefined ? [] : id === undefined ? [...ofName.values()] : [ofName.get(id)].filter((one) => one !== undefined);
    for (const one of released) this.#forget(one);
    if (released.length > 0) this.#onChange();
    if (released.length > 0) void this.#turns.each(released, (one) => one.release());
    return released.length;
  }

  #forget({ id, name }: Waiting): void {
    this.#waiting.delete(id);
    const ofName = this.#ofNames.get(name);
    ofName?.delete(id);
    if (ofName?.size === 0) this.#ofNames.delete(name);
  }

  /** The longest first. */
  list(most: number): readonly WaitingCall[] {
    const listed: WaitingCall[] = [];
    for (const { release: _, ...shown } of this.#waiting.values()) if (listed.push(shown) === most) break;
    return listed;
  }
}
