import type { IncomingMessage } from "node:http";
import { StepBytes } from "../../turns/step-bytes.ts";

/** A body in chunks (RFC 9112 §7.1), while it arrives: every sixth byte may bring one, and for each Node makes a buffer and calls back. */
export class ChunkedBody {
  readonly #request: IncomingMessage;
  /** What Node's parser gets at once. */
  readonly step = new StepBytes();

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  get isComplete(): boolean {
    return this.#request.complete;
  }

  /** Its reader is behind, or has not begun. */
  get isUnread(): boolean {
    return this.#request.readableLength > 0;
  }
}

export const isChunked = (request: IncomingMessage): boolean => request.headers["transfer-encoding"] !== undefined;
