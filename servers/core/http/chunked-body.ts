import type { IncomingMessage } from "node:http";

/** Bytes of a body that Node's parser gets at once. */
const step = { least: 512, first: 1 << 10, most: 16 << 10 } as const;

/** A body in chunks (RFC 9112 §7.1), while it arrives: every sixth byte may bring one, and for each Node makes a buffer and calls back. */
export class ChunkedBody {
  readonly #request: IncomingMessage;
  #stepBytes: number = step.first;

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

  get stepBytes(): number {
    return this.#stepBytes;
  }

  /** `isOver` says that the last step has used up the share of the connection. */
  tookStep(isOver: boolean): void {
    this.#stepBytes = isOver ? Math.max(step.least, this.#stepBytes / 2) : Math.min(step.most, this.#stepBytes * 2);
  }
}

export const isChunked = (request: IncomingMessage): boolean => request.headers["transfer-encoding"] !== undefined;
