import type { ScriptArgument } from "./cluster-scripts.ts";

/** One change to Redis; the script `commit` applies all changes of a tick. */
export type RedisOperation =
  | { readonly type: "call"; readonly values: readonly ScriptArgument[] }
  /** So many deliveries of the same commit name the message; `body` if Redis does not have it. */
  | { readonly type: "use message"; readonly name: string; readonly count: number; readonly body: Buffer | undefined }
  /** Removes deliveries of a session: `released` has the field of each, and the name of its message. */
  | { readonly type: "release messages"; readonly key: string; readonly released: readonly string[] }
  /** Removes a session with its deliveries. */
  | { readonly type: "end session"; readonly key: string }
  /** Adds the name of a message to a list, which keeps so many. */
  | { readonly type: "wait"; readonly key: string; readonly name: string; readonly most: number }
  /** Removes so many of the oldest of such a list. */
  | { readonly type: "wait no more"; readonly key: string; readonly count: number }
  /** Appends a frame to the journal if it is durable, and sends it to all brokers. */
  | { readonly type: "share"; readonly channel: string; readonly envelope: Buffer; readonly frameLength: number; readonly durable: boolean }
  /** Hands the client's session over to another broker, if that is alive; `at` is the journal position of the stored state. */
  | { readonly type: "surrender"; readonly clientId: string; readonly to: string; readonly at: string }
  /** Removes this broker as the owner of the client's session. */
  | { readonly type: "release"; readonly clientId: string }
  /** Takes over a dead broker's members of shared subscriptions. */
  | { readonly type: "inherit"; readonly dead: string }
  /** Removes a hash field if it still has this value. */
  | { readonly type: "remove"; readonly key: string; readonly field: string; readonly value: Buffer };

export function operationArguments(operations: readonly RedisOperation[]): ScriptArgument[] {
  const all: ScriptArgument[] = [];
  for (const operation of operations) {
    const values = valuesOf(operation);
    all.push(operation.type, values.length, ...values);
  }
  return all;
}

export function valuesOf(operation: RedisOperation): readonly ScriptArgument[] {
  switch (operation.type) {
    case "call":
      return operation.values;
    case "use message":
      return [operation.name, operation.count, operation.body ?? ""];
    case "release messages":
      return [operation.key, ...operation.released];
    case "end session":
      return [operation.key];
    case "wait":
      return [operation.key, operation.name, operation.most];
    case "wait no more":
      return [operation.key, operation.count];
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
