import type { BudgetShare } from "../../core/limits/shared-budget.ts";
import type { CallEntry } from "../observe/call-entry.ts";
import type { CallTransport } from "./call-transport.ts";
import { compressFrame, type MessageCoding } from "./message-coding.ts";

/** What a frame that waits takes beside its bytes. */
const frameBytes = 256;

export interface CallOutputOptions {
  readonly transport: CallTransport;
  readonly entry: CallEntry;
  /** What the clients of all calls leave unread. */
  readonly unread: BudgetShare;
  /** Called when a message was written. */
  readonly onWritten: () => void;
  readonly onFault: (error: unknown) => void;
}

/** The messages of a call on their way to its client, in order: compressed, written, and counted while the client has not read them. */
export class CallOutput {
  readonly #options: CallOutputOptions;
  coding: MessageCoding = "identity";
  /** Memory of what the client leaves unread. */
  unreadBytes = 0;
  /** Messages that are being compressed, in order. */
  #compressing: Promise<void> | undefined;
  #isOver = false;

  constructor(options: CallOutputOptions) {
    this.#options = options;
  }

  send(frame: Buffer): void {
    if (this.coding === "identity") this.#write(frame, frame);
    else this.#compress(frame, this.coding);
  }

  #compress(frame: Buffer, coding: Exclude<MessageCoding, "identity">): void {
    const compressed = compressFrame(frame, coding);
    if (!this.#compressing && Buffer.isBuffer(compressed)) {
      this.#write(compressed, frame);
      return;
    }
    this.#count(frame.length);
    const done: Promise<void> = Promise.all([this.#compressing, compressed]).then(([, wire]) => {
      this.#count(-frame.length);
      if (this.#compressing === done) this.#compressing = undefined;
      if (!this.#isOver) this.#write(wire, frame);
    }, this.#options.onFault);
    this.#compressing = done;
  }

  #write(wire: Buffer, frame: Buffer): void {
    const { transport, entry, onWritten } = this.#options;
    const bytes = frameBytes + wire.length;
    entry.addSent(frame, wire);
    this.#count(bytes);
    transport.sendFrame(wire, () => {
      this.#count(-bytes);
      onWritten();
    });
  }

  #count(bytes: number): void {
    if (this.#isOver) return;
    this.unreadBytes += bytes;
    this.#options.unread.add(bytes);
  }

  /** Calls back when the last message is with the transport; at once, if it is. */
  whenWritten(then: () => void): void {
    if (this.#compressing) void this.#compressing.then(then);
    else then();
  }

  /** Nothing more is written, and what waits is dropped. */
  close(): void {
    this.#options.unread.add(-this.unreadBytes);
    this.unreadBytes = 0;
    this.#isOver = true;
  }
}
