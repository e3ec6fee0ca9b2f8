import { ByteQueue } from "../net/byte-queue.ts";
import { clientPreface, errorCodes, type Frame, frameHeaderBytes, Http2Error, largestFrame } from "./frames.ts";

/** Takes the bytes of a client in pieces of any length, and gives its frames one at a time. */
export class FrameReader {
  readonly #rest = new ByteQueue();
  #hasPreface = false;

  /** Bytes that were not read yet. */
  get length(): number {
    return this.#rest.length;
  }

  push(bytes: Buffer): void {
    const isHeadThere = this.#hasPreface && this.#rest.length >= frameHeaderBytes;
    this.#rest.push(bytes, isHeadThere ? frameHeaderBytes + this.#nextLength : undefined);
  }

  /** Undefined while the preface is incomplete; false if these bytes are another protocol's. */
  readPreface(): boolean | undefined {
    if (this.#hasPreface) return true;
    const length = Math.min(this.#rest.length, clientPreface.length);
    if (this.#rest.all().compare(clientPreface, 0, length, 0, length) !== 0) return false;
    if (length < clientPreface.length) return undefined;
    this.#hasPreface = true;
    this.#rest.take(length);
    return true;
  }

  get hasNext(): boolean {
    const { length } = this.#rest;
    return length >= frameHeaderBytes && (length >= frameHeaderBytes + this.#nextLength || this.#nextLength > largestFrame);
  }

  /** RFC 9113 §4.1: the first three bytes. */
  get #nextLength(): number {
    return this.#rest.uint32At(0) >>> 8;
  }

  /** To be called if `hasNext`. Throws an `Http2Error` for a frame that is longer than RFC 9113 §4.2 allows where nothing else was agreed. */
  next(): Frame {
    const length = this.#nextLength;
    if (length > largestFrame)
      throw new Http2Error(errorCodes.frameSize, `a frame has ${length} bytes, which is more than ${largestFrame}`);
    const frame = this.#rest.take(frameHeaderBytes + length);
    return {
      type: frame[3] as number,
      flags: frame[4] as number,
      // RFC 9113 §4.1: the first bit is ignored.
      streamId: frame.readUInt32BE(5) & 0x7fffffff,
      payload: frame.subarray(frameHeaderBytes),
    };
  }

  /** Lets go of the large piece that the rest is a part of: a few bytes may wait for long. */
  keepRestOnly(): void {
    this.#rest.keepRestOnly();
  }

  clear(): void {
    this.#rest.clear();
  }
}
