import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { JsonThread } from "./json-thread.ts";

export interface LongJsonOptions {
  readonly thread: Pick<JsonThread, "request">;
  readonly method: GrpcMethod;
  readonly work: WorkConnection;
  /** Once it is closed nothing more is read. */
  readonly held: HeldBytes;
  /** Most values in a message of the client: see `requireValues`. */
  readonly messageValues: number;
  /** Gets the message as bytes. */
  readonly deliver: (bytes: Uint8Array) => void | Promise<void>;
}

/**
 * A long message of a client whose messages are JSON: another thread reads it when it is the connection's turn, and so it is handled. What follows it is not
 * asked for until the handler has it.
 */
export async function readLongJson(message: Uint8Array, options: LongJsonOptions): Promise<void> {
  const { thread, method, work, held, messageValues, deliver } = options;
  held.add(message.length);
  const bytes = await work.runElsewhere(async () => (held.isClosed ? undefined : await thread.request(method, message, messageValues)));
  held.add(-message.length);
  if (bytes) await work.run(oneStep(() => (held.isClosed ? undefined : deliver(bytes))));
}
