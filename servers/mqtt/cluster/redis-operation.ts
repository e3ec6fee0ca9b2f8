import type { ScriptArgument } from "./cluster-scripts.ts";
import { FrameWriter } from "./frame-writer.ts";

/** One change to Redis; the script `commit` applies all changes of a tick. */
export type RedisOperation =
  | { readonly type: "call"; readonly values: readonly ScriptArgument[] }
  /** Of each message its name, how many deliveries of the same commit name it, and its body, which is empty if Redis has it. */
  | { readonly type: "use messages"; readonly uses: readonly ScriptArgument[] }
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

/** Of MessagePack: an array, and a string, each with its length in four bytes. */
const packed = { array: 0xdd, string: 0xdb };

/**
 * The operations as one argument of `commit`: what one message changes in thousands of sessions are tens of thousands of values, each of which
 * as an argument of its own takes ten times as long. `bytes` is the length of the values without the frames.
 */
export function packOperations(operations: readonly RedisOperation[]): { readonly argument: Buffer; readonly bytes: number } {
  const writer = new FrameWriter();
  const put = (value: ScriptArgument) => {
    writer.byte(packed.string);
    if (typeof value === "object") writer.binary(value);
    else writer.longString(String(value));
  };
  let count = 0;
  let bytes = 0;
  writer.byte(packed.array).counted(() => {
    for (const operation of operations) {
      const values = valuesOf(operation);
      put(operation.type);
      put(values.length);
      for (const value of values) {
        put(value);
        if (operation.type !== "share" && typeof value !== "number") bytes += value.length;
      }
      count += 2 + values.length;
    }
    return count;
  });
  return { argument: writer.take(), bytes };
}

export function valuesOf(operation: RedisOperation): readonly ScriptArgument[] {
  switch (operation.type) {
    case "call":
      return operation.values;
    case "use messages":
      return operation.uses;
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
