export interface ListedCall {
  /** Its indexes in the lists of its listener and of its connection. */
  readonly places: { listener: number; connection: number };
}

/** The open calls of one listener, or of one connection. Each has its index: a Set that changes with every call would leave long-lived garbage. */
export class CallList<Call extends ListedCall> {
  readonly #calls: Call[] = [];
  readonly #of: "listener" | "connection";

  constructor(of: "listener" | "connection") {
    this.#of = of;
  }

  get size(): number {
    return this.#calls.length;
  }

  get last(): Call | undefined {
    return this.#calls.at(-1);
  }

  add(call: Call): void {
    call.places[this.#of] = this.#calls.push(call) - 1;
  }

  delete(call: Call): void {
    const last = this.#calls.pop();
    if (!last || last === call) return;
    const place = call.places[this.#of];
    this.#calls[place] = last;
    last.places[this.#of] = place;
  }

  /** Those that are open now. */
  all(): readonly Call[] {
    return [...this.#calls];
  }
}
