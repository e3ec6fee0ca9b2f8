import type { WorkConnection } from "../../core/service/work-turns.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { JsonMessages } from "./json-messages.ts";
import { requireValues } from "./message-values.ts";

export interface LongJsonOptions {
  readonly json: Pick<JsonMessages, "longRequest">;
  readonly work: WorkConnection;
  /** Once it is closed nothing more is read. */
  readonly held: HeldBytes;
  /** Most values in a message of the client: see `requireValues`. */
  readonly messageValues: number;
  /** Gets each message as bytes. */
  readonly deliver: (bytes: Uint8Array) => void | Promise<void>;
}

/** Reads the long messages of a client whose messages are JSON: counting, reading and handling one have a turn of their own. */
export class LongJson {
  readonly #options: LongJsonOptions;

  constructor(options: LongJsonOptions) {
    this.#options = options;
  }

  /** What follows the message is not asked for until the handler has it. */
  async read(message: Uint8Array): Promise<void> {
    const { work, held } = this.#options;
    held.add(message.length);
    await work.run(this.#steps(message));
  }

  *#steps(message: Uint8Array): Generator<void, void | Promise<void>> {
    const { json, held, messageValues, deliver } = this.#options;
    requireValues(message, "json", messageValues);
    yield;
    if (held.isClosed) return;
    const bytes = yield* json.longRequest(message);
    yield;
    held.add(-message.length);
    if (!held.isClosed) return deliver(bytes);
  }
}
