import type { BudgetShare } from "../../core/limits/shared-budget.ts";
import type { WorkConnection } from "../../core/service/work-turns.ts";
import type { JsonMessages } from "./json-messages.ts";
import { requireValues } from "./message-values.ts";

export interface LongJsonOptions {
  readonly json: JsonMessages;
  readonly connection: { readonly work: WorkConnection; readonly shares: { readonly received: BudgetShare } };
  /** Most values in a message of the client: see `requireValues`. */
  readonly messageValues: number;
  readonly onIgnored: (field: string) => void;
  /** Gets each message as bytes. */
  readonly deliver: (bytes: Uint8Array) => void | Promise<void>;
}

/** Reads the long messages of a client whose messages are JSON: counting, reading and handling one have a turn of their own. */
export class LongJson {
  readonly #options: LongJsonOptions;
  /** Of a message that waits. */
  bytes = 0;
  #isOver = false;

  constructor(options: LongJsonOptions) {
    this.#options = options;
  }

  /** What follows the message is not asked for until the handler has it. */
  async read(message: Uint8Array): Promise<void> {
    this.#hold(message.length);
    await this.#options.connection.work.run(this.#steps(message));
  }

  *#steps(message: Uint8Array): Generator<void, void | Promise<void>> {
    const { json, messageValues, onIgnored, deliver } = this.#options;
    requireValues(message, "json", messageValues);
    yield;
    if (this.#isOver) return;
    const bytes = json.request(message, onIgnored);
    yield;
    this.#hold(0);
    if (!this.#isOver) return deliver(bytes);
  }

  #hold(bytes: number): void {
    this.#options.connection.shares.received.add(bytes - this.bytes);
    this.bytes = bytes;
  }

  /** What waits is not read. */
  close(): void {
    this.#isOver = true;
    this.#hold(0);
  }
}
