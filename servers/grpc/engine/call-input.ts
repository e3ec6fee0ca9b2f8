import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { CallEntry } from "../observe/call-entry.ts";
import type { CallTransport } from "./call-transport.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { JsonMessages } from "./json-messages.ts";
import type { JsonThread } from "./json-thread.ts";
import { readLongJson } from "./long-json.ts";
import type { MessageFilter, MessageSink } from "./message-sink.ts";
import { requireValues } from "./message-values.ts";

/** What is used of the call. */
interface ReadingCall {
  readonly isEnding: boolean;
  readonly work: WorkConnection;
  readonly held: HeldBytes;
  readonly entry: Pick<CallEntry, "noted">;
  readonly transport: Pick<CallTransport, "read">;
  /** Undefined if it is not served. */
  readonly method: GrpcMethod | undefined;
  run(step: () => void | Promise<void>): void;
  runInTurn(step: () => void | Promise<void>): void;
}

export interface CallInputOptions {
  readonly call: ReadingCall;
  /** For a client whose messages are JSON. */
  readonly json: JsonMessages | undefined;
  /** Reads those that are long. */
  readonly jsonThread: JsonThread;
  /** Most values in a message: see `requireValues`. */
  readonly messageValues: number;
}

/** Messages that were read and given back: the next reader gets them first. */
interface GivenBack {
  readonly messages: readonly Uint8Array[];
  readonly halfClosed: boolean;
  next: number;
}

/** The messages of the client on their way to the handler, in order: counted, read where they are JSON, filtered. */
export class CallInput {
  readonly #call: ReadingCall;
  readonly #json: JsonMessages | undefined;
  readonly #options: CallInputOptions;
  #sink: MessageSink | undefined;
  #filter: MessageFilter | undefined;
  #givenBack: GivenBack | undefined;

  constructor(options: CallInputOptions) {
    this.#options = options;
    this.#call = options.call;
    this.#json = options.json;
  }

  receive(sink: MessageSink): void {
    this.#sink = sink;
    this.read();
  }

  filterMessages(filter: MessageFilter): void {
    this.#filter = filter;
  }

  read(): void {
    if (this.#call.isEnding) return;
    if (this.#givenBack) this.#readGivenBack(this.#givenBack);
    else this.#call.transport.read();
  }

  giveBack(messages: readonly Uint8Array[], halfClosed: boolean): void {
    this.#sink = undefined;
    this.#givenBack = { messages, halfClosed, next: 0 };
  }

  #readGivenBack(given: GivenBack): void {
    const call = this.#call;
    const bytes = given.messages[given.next++];
    if (bytes) {
      // Asynchronous, like messages from the network.
      queueMicrotask(() => call.runInTurn(() => this.#sink?.message(bytes)));
      return;
    }
    this.#givenBack = undefined;
    if (given.halfClosed) queueMicrotask(() => call.isEnding || call.run(() => this.#sink?.halfClose()));
    else call.transport.read();
  }

  readonly #onIgnored = (field: string) => this.#call.entry.noted(`Unknown field ${field} was ignored`);

  /** Throws, or rejects with, a `StatusError` for one that is not a message of the method. */
  take(bytes: Uint8Array): void | Promise<void> {
    const { method, work, held } = this.#call;
    const json = this.#json;
    const { messageValues, jsonThread: thread } = this.#options;
    if (method && json && !json.isShortRequest(bytes)) {
      return readLongJson(bytes, { thread, method, work, held, messageValues, deliver: (one) => this.#deliver(one) });
    }
    if (method) requireValues(bytes, json ? "json" : method.descriptor.input, messageValues);
    return this.#deliver(json ? json.request(bytes, this.#onIgnored) : bytes);
  }

  #deliver(bytes: Uint8Array): void | Promise<void> {
    if (!this.#filter) return this.#sink?.message(bytes);
    const pass = () => this.#sink?.message(bytes);
    if (!this.#filter.message(bytes, () => this.#call.run(pass))) return pass();
  }

  halfClose(): void {
    const call = this.#call;
    const pass = () => this.#sink?.halfClose();
    call.run(() => (this.#filter ? this.#filter.halfClose(() => call.run(pass)) : pass()));
  }

  close(): void {
    this.#sink = undefined;
    this.#filter = undefined;
    this.#givenBack = undefined;
  }
}
