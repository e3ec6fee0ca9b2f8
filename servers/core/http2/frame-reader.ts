import { clientPreface, errorCodes, type Frame, frameHeaderBytes, Http2Error, largestFrame } from "./frames.ts";

const nothing: Buffer = Buffer.alloc(0);

/** Takes the bytes of a client in pieces of any length, and gives its frames one at a time. */
export class FrameReader {
  #rest = nothing;
  #hasPreface = false;

  /** Bytes that were not read yet. */
  get length(): number {
    return this.#rest.length;
  }

  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  /** Undefined while the preface is incomplete; false if these bytes are another protocol's. */
  readPreface(): boolean | undefined {
    if (this.#hasPreface) return true;
    const length = Math.min(this.#rest.length, clientPreface.length);
    if (this.#rest.compare(clientPreface, 0, length, 0, length) !== 0) return false;
    if (length < clientPreface.length) return undefined;
    this.#hasPreface = true;
    this.#rest = this.#rest.subarray(length);
    return true;
  }

  get hasNext(): boolean {
    const { length } = this.#rest;
    return length >= frameHeaderBytes && (length >= frameHeaderBytes + this.#nextLength || this.#nextLength > largestFrame);
  }

  get #nextLength(): number {
    return this.#rest.readUIntBE(0, 3);
  }

  /** To be called if `hasNext`. Throws an `Http2Error` for a frame that is longer than RFC 9113 §4.2 allows where nothing else was agreed. */
  next(): Frame {
    const rest = this.#rest;
    const length = this.#nextLength;
    if (length > largestFrame)
      throw new Http2Error(errorCodes.frameSize, `a frame has ${length} bytes, which is more than ${largestFrame}`);
    const end = frameHeaderBytes + length;
    this.#rest = end === rest.length ? nothing : rest.subarray(end);
    return {
      type: rest[3] as number,
      flags: rest[4] as number,
      // RFC 9113 §4.1: the first bit is ignored.
      streamId: rest.readUInt32BE(5) & 0x7fffffff,
      payload: rest.subarray(frameHeaderBytes, end),
    };
  }

  /** Lets go of the large piece that the rest is a part of: a few bytes may wait for long. */
  keepRestOnly(): void {
    if (this.#rest.length > 0 && 2 * this.#rest.length < this.#rest.buffer.byteLength) {
      const rest = Buffer.allocUnsafeSlow(this.#rest.length);
      this.#rest.copy(rest);
      this.#rest = rest;
    }
  }

  clear(): void {
    this.#rest = nothing;
  }
}
