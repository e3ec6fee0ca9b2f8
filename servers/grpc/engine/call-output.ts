import type { CallEntry } from "../observe/call-entry.ts";
import type { CallShares } from "./call-budgets.ts";
import type { CallTransport } from "./call-transport.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import type { JsonMessages } from "./json-messages.ts";
import type { JsonThread } from "./json-thread.ts";
import { compressFrame, type MessageCoding } from "./message-coding.ts";
import { frameOf, prefixBytes } from "./message-type.ts";

const nothing: Uint8Array = new Uint8Array();

/** What a frame that waits takes beside its bytes. */
const frameBytes = 512;

export interface CallOutputOptions {
  readonly transport: CallTransport;
  readonly entry: CallEntry;
  /** Undefined if it is not served. */
  readonly method: GrpcMethod | undefined;
  /** For a client whose messages are JSON. */
  readonly json: JsonMessages | undefined;
  /** Writes those that are long. */
  readonly jsonThread: JsonThread;
  /** Of what all calls have. */
  readonly shares: CallShares;
  /** Called when a message was written. */
  readonly onWritten: () => void;
  readonly onFault: (error: unknown) => void;
}

/** The messages of a call on their way to its client, in order: as JSON, compressed, written, and counted while the client has not read them. */
export class CallOutput {
  readonly #options: CallOutputOptions;
  coding: MessageCoding = "identity";
  /** Memory of what the client leaves unread. */
  unreadBytes = 0;
  /** Messages that become JSON in a turn of their own, or are being compressed, in order. */
  #preparing: Promise<void> | undefined;
  #isOver = false;

  constructor(options: CallOutputOptions) {
    this.#options = options;
  }

  /** The frame as the client reads it; undefined for a message that is long and becomes JSON. */
  frameAtOnce(message: Buffer): Buffer | undefined {
    const { json } = this.#options;
    if (!json) return message;
    const content = message.subarray(prefixBytes);
    return json.isShortReply(content) ? frameOf(json.reply(content)) : undefined;
  }

  send(frame: Buffer): void {
    const wire = this.#coded(frame);
    if (!this.#preparing && Buffer.isBuffer(wire)) this.#write(wire, frame);
    else this.#prepare(frame.length, Promise.all([wire, frame]));
  }

  /** For a message without a frame at once. */
  sendLong(message: Buffer): void {
    const { method, jsonThread, transport } = this.#options;
    if (!method) return;
    const content = message.subarray(prefixBytes);
    const { work } = transport.head.connection;
    const frame = work.runElsewhere(async () => frameOf(this.#isOver ? nothing : await jsonThread.reply(method, content)));
    this.#prepare(
      message.length,
      frame.then((made) => Promise.all([this.#coded(made), made])),
    );
  }

  #coded(frame: Buffer): Buffer | Promise<Buffer> {
    return this.coding === "identity" ? frame : compressFrame(frame, this.coding, this.#options.transport.head.connection.work);
  }

  /** The message is written behind those before it. */
  #prepare(bytes: number, prepared: Promise<readonly [wire: Buffer, frame: Buffer]>): void {
    this.#count(bytes);
    const done: Promise<void> = Promise.all([this.#preparing, prepared]).then(([, [wire, frame]]) => {
      this.#count(-bytes);
      if (this.#preparing === done) this.#preparing = undefined;
      if (!this.#isOver) this.#write(wire, frame);
    }, this.#options.onFault);
    this.#preparing = done;
  }

  #write(wire: Buffer, frame: Buffer): void {
    const { transport, entry, onWritten } = this.#options;
    const bytes = frameBytes + wire.length;
    entry.addSent(frame, wire);
    this.#count(bytes);
    transport.sendFrame(wire, () => {
      this.#count(-bytes);
      this.#options.shares.garbage.drop(bytes);
      onWritten();
    });
  }

  #count(bytes: number): void {
    if (this.#isOver) return;
    this.unreadBytes += bytes;
    this.#options.shares.memory.add(bytes);
  }

  /** Calls back when the last message is with the transport; at once, if it is. */
  whenWritten(then: () => void): void {
    if (this.#preparing) void this.#preparing.then(then);
    else then();
  }

  /** Nothing more is written, and what waits is dropped. */
  close(): void {
    const { memory, garbage } = this.#options.shares;
    memory.add(-this.unreadBytes);
    garbage.drop(this.unreadBytes);
    this.unreadBytes = 0;
    this.#isOver = true;
  }
}
