import { CallList } from "./call-list.ts";
import type { GrpcCall } from "./grpc-call.ts";

/** The calls that are open on all listeners. */
export class OpenCalls {
  readonly #lists: CallList<GrpcCall>[] = [];

  ofListener(): CallList<GrpcCall> {
    const list = new CallList<GrpcCall>("listener");
    this.#lists.push(list);
    return list;
  }

  find(row: number): GrpcCall | undefined {
    for (const list of this.#lists) {
      const call = list.all().find(({ entry }) => entry.id === row);
      if (call) return call;
    }
    return undefined;
  }
}
