import { ByteQueue } from "../../core/net/byte-queue.ts";
import { prefixBytes } from "./message-type.ts";
import { StatusError, UnreadableRequest } from "./status.ts";

/** A message as it is in the body of a request. */
export interface WireMessage {
  readonly content: Buffer;
  readonly isCompressed: boolean;
}

export interface BodyLimits {
  readonly largestMessage: number;
}

/** Finds the messages in a request's body. The methods throw a `StatusError` for bytes that are not a message. */
export interface BodyReader {
  push(chunk: Buffer): void;
  /** Bytes that were not taken yet. */
  readonly length: number;
  /** Memory of them. */
  readonly heldBytes: number;
  clear(): void;
  /** To be called when the rest waits. */
  keepRestOnly(): void;
  /** A message is complete, or some of what came can be decoded. */
  readonly hasNext: boolean;
  /** The next complete message, if there is one by then. */
  next(): WireMessage | undefined;
  /** To be called when the body has ended and `next` has nothing more, and again where that made a further message. */
  end(): void;
}

const compressedFlag = 1;

export const tooLong = (length: number, limit: number): StatusError =>
  new StatusError("RESOURCE_EXHAUSTED", `a message of ${length} bytes is longer than the limit of ${limit}`);

/** A body in which each message has a prefix of five bytes: a flag for compression, and the length. */
export class FramedBody implements BodyReader {
  readonly #queue = new ByteQueue();
  readonly #limits: BodyLimits;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#queue.length;
  }

  get heldBytes(): number {
    return this.#queue.heldBytes;
  }

  push(chunk: Buffer): void {
    this.#queue.push(chunk);
  }

  clear(): void {
    this.#queue.clear();
  }

  keepRestOnly(): void {
    this.#queue.keepRestOnly();
  }

  get hasNext(): boolean {
    return this.#queue.length >= prefixBytes && this.#queue.length >= prefixBytes + this.#queue.uint32At(1);
  }

  next(): WireMessage | undefined {
    if (this.#queue.length < prefixBytes) return undefined;
    const flags = this.#queue.at(0);
    const { largestMessage } = this.#limits;
    if (flags > compressedFlag) throw new UnreadableRequest(`a message begins with the flags ${flags}; only 0 and 1 are allowed`);
    const length = this.#queue.uint32At(1);
    if (length > largestMessage) throw tooLong(length, largestMessage);
    if (this.#queue.length < prefixBytes + length) return undefined;
    this.#queue.skip(prefixBytes);
    return { content: this.#queue.take(length), isCompressed: flags === compressedFlag };
  }

  end(): void {
    if (this.#queue.length > 0) throw new UnreadableRequest("the request ends within a message");
  }
}
