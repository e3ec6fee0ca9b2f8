import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";

export interface PacedStreamOptions {
  readonly call: GrpcCall;
  /** The number of the first item. */
  readonly first: number;
  /** Infinity streams until the client leaves. */
  readonly count: number;
  readonly intervalMs: number;
  /** Sends the item of a number; false once the client should read first. */
  readonly send: (number: number) => boolean;
}

const shortestTimerMs = 5;

/** Sends items at a rate, the first at once. Items that a slow client could not take are sent later; none is dropped. */
export function paceStream(options: PacedStreamOptions): void {
  const stream = new PacedStream(options);
  // The first item may come later.
  options.call.sendHeaders();
  stream.go();
}

/** Items that are due are sent in the turns of all clients. */
class PacedStream {
  readonly #options: PacedStreamOptions;
  readonly #startedAt = performance.now();
  readonly #share: WorkShare;
  #sent = 0;
  #due = 0;
  #room = true;
  #endWait: (() => void) | undefined;

  constructor(options: PacedStreamOptions) {
    this.#options = options;
    this.#share = options.call.work.join(() => this.#sendDue());
    options.call.whenOver(() => this.#endWait?.());
  }

  go(): void {
    const { call, count, intervalMs } = this.#options;
    const passed = performance.now() - this.#startedAt;
    this.#due = intervalMs <= 0 ? count : Math.min(count, Math.floor(passed / intervalMs) + 1);
    this.#room = call.isWritable;
    this.#sendDue();
  }

  /** As much as there is time for now, and the rest later. */
  #sendDue(): void {
    const { call, first, send } = this.#options;
    while (this.#room && this.#sent < this.#due && !call.isEnding) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      call.run(() => {
        this.#room = send(first + this.#sent);
        this.#sent++;
      });
    }
    this.#rest();
  }

  /** Until more is due, or the client has read. */
  #rest(): void {
    const { call, count, intervalMs } = this.#options;
    if (call.isEnding) return;
    if (this.#sent >= count) call.finish();
    else if (!this.#room) call.whenWritable(() => this.go());
    else {
      const waitMs = Math.max(shortestTimerMs, this.#startedAt + this.#sent * intervalMs - performance.now());
      this.#endWait = call.work.wait(waitMs, () => this.go());
    }
  }
}
