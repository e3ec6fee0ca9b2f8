import type { ScriptArgument } from "./cluster-scripts.ts";

/** A part of what one tick changes in Redis; what they mean stands in the script `commit`. */
export type RedisOperation =
  | { readonly type: "call"; readonly values: readonly ScriptArgument[] }
  /** Puts a frame into the journal, where it is durable, and tells it to all brokers. */
  | { readonly type: "share"; readonly channel: string; readonly envelope: Buffer; readonly frameLength: number; readonly durable: boolean }
  /** The client's session is another broker's now, where that lives; `at` says of when it is. */
  | { readonly type: "surrender"; readonly clientId: string; readonly to: string; readonly at: string }
  /** The client has no session here any more. */
  | { readonly type: "release"; readonly clientId: string }
  /** The members of shared subscriptions that a dead broker had are this one's. */
  | { readonly type: "inherit"; readonly dead: string }
  /** Removes a field of a hash that still has this value. */
  | { readonly type: "remove"; readonly key: string; readonly field: string; readonly value: Buffer };

export function operationArguments(operations: readonly RedisOperation[]): ScriptArgument[] {
  const all: ScriptArgument[] = [];
  for (const operation of operations) {
    const values = valuesOf(operation);
    all.push(operation.type, values.length, ...values);
  }
  return all;
}

function valuesOf(operation: RedisOperation): readonly ScriptArgument[] {
  switch (operation.type) {
    case "call":
      return operation.values;
    case "share":
      return [operation.channel, operation.envelope, operation.frameLength, operation.durable ? 1 : 0];
    case "surrender":
      return [operation.clientId, operation.to, operation.at];
    case "release":
      return [operation.clientId];
    case "inherit":
      return [operation.dead];
    case "remove":
      return [operation.key, operation.field, operation.value];
    default:
      return operation satisfies never;
  }
}
