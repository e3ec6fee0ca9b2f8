import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";

/** Answers calls in place of a method's handler. */
export interface MethodReplies {
  /**
   * Takes over the call; or returns false and leaves the call, unchanged, to the next. If it reads messages and then has no answer, it
   * gives them back (`GrpcCall.giveBack`) and calls `otherwise`, which passes the call on.
   */
  begin(call: GrpcCall, method: GrpcMethod, otherwise: () => void): boolean;
}

/** Offers a call to each of `replies` in turn; if none takes it, `last` answers. */
export function beginWith(call: GrpcCall, method: GrpcMethod, replies: readonly MethodReplies[], last: () => void, from = 0): void {
  for (let index = from; index < replies.length; index++) {
    const next = index + 1;
    if (replies[index]?.begin(call, method, () => beginWith(call, method, replies, last, next))) return;
  }
  call.run(last);
}
