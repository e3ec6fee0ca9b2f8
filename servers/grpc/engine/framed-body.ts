import { ByteQueue } from "./byte-queue.ts";
import { prefixBytes } from "./message-type.ts";
import { StatusError, type StatusName } from "./status.ts";

/** A message as it lies in a body. */
export interface WireMessage {
  readonly content: Buffer;
  readonly isCompressed: boolean;
}

export interface BodyLimits {
  readonly largestMessage: number;
  /** What bytes that are no message are in the words of the protocol. */
  readonly malformed: StatusName;
}

const compressedFlag = 1;

export const tooLong = (length: number, limit: number): StatusError =>
  new StatusError("RESOURCE_EXHAUSTED", `a message of ${length} bytes is longer than the limit of ${limit}`);

/**
 * Finds the messages in a body: each lies behind a prefix of five bytes, a flag for compression and the length. Its functions throw a
 * `StatusError` for what is no message.
 */
export class FramedBody {
  readonly #queue = new ByteQueue();
  readonly #limits: BodyLimits;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Bytes that wait. */
  get length(): number {
    return this.#queue.length;
  }

  push(chunk: Buffer): void {
    this.#queue.push(chunk);
  }

  /** The next complete message. */
  next(): WireMessage | undefined {
    if (this.#queue.length < prefixBytes) return undefined;
    const flags = this.#queue.at(0);
    const { largestMessage, malformed } = this.#limits;
    if (flags > compressedFlag) throw new StatusError(malformed, `a message begins with the flags ${flags}: there are 0 and 1`);
    const length = this.#queue.uint32At(1);
    if (length > largestMessage) throw tooLong(length, largestMessage);
    if (this.#queue.length < prefixBytes + length) return undefined;
    this.#queue.skip(prefixBytes);
    return { content: this.#queue.take(length), isCompressed: flags === compressedFlag };
  }

  /** To be called when the body has ended and `next` has nothing more. */
  end(): void {
    if (this.#queue.length > 0) throw new StatusError(this.#limits.malformed, "the request ends within a message");
  }
}
