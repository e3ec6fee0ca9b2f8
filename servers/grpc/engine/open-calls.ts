import type { GrpcCall } from "./grpc-call.ts";

/** The open calls of one listener. Each has its index: a Set that changes with every call would leave long-lived garbage. */
export class CallList {
  readonly #calls: GrpcCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  add(call: GrpcCall): void {
    call.place = this.#calls.push(call) - 1;
  }

  delete(call: GrpcCall): void {
    const last = this.#calls.pop();
    if (!last || last === call) return;
    this.#calls[call.place] = last;
    last.place = call.place;
  }

  /** Those that are open now. */
  all(): readonly GrpcCall[] {
    return [...this.#calls];
  }

  find(row: number): GrpcCall | undefined {
    return this.#calls.find(({ entry }) => entry.id === row);
  }
}

/** The calls that are open on all listeners. */
export class OpenCalls {
  readonly #lists: CallList[] = [];

  ofListener(): CallList {
    const list = new CallList();
    this.#lists.push(list);
    return list;
  }

  find(row: number): GrpcCall | undefined {
    for (const list of this.#lists) {
      const call = list.find(row);
      if (call) return call;
    }
    return undefined;
  }
}
