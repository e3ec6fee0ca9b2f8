import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";

/** Something that answers calls of methods that are described by protocol files. */
export interface MethodReplies {
  /**
   * Takes the call over, or returns false and has not touched it: then the next one is asked. One that read messages of a call, and then
   * finds nothing to answer, gives them back (`GrpcCall.giveBack`) and calls `otherwise`, which begins the call with what comes next.
   */
  begin(call: GrpcCall, method: GrpcMethod, otherwise: () => void): boolean;
}

/** Who answers a call: the first of `replies` that takes it, and else `last`. */
export function beginWith(call: GrpcCall, method: GrpcMethod, replies: readonly MethodReplies[], last: () => void, from = 0): void {
  for (let index = from; index < replies.length; index++) {
    const next = index + 1;
    if (replies[index]?.begin(call, method, () => beginWith(call, method, replies, last, next))) return;
  }
  call.run(last);
}
