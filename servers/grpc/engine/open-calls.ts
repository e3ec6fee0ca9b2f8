import type { GrpcCall } from "./grpc-call.ts";

/** The calls that are open on all listeners, by their rows. */
export class OpenCalls {
  readonly #byRow = new Map<number, GrpcCall>();

  add(call: GrpcCall): void {
    this.#byRow.set(call.entry.id, call);
  }

  delete(call: GrpcCall): void {
    this.#byRow.delete(call.entry.id);
  }

  find(row: number): GrpcCall | undefined {
    return this.#byRow.get(row);
  }
}
