import { isStun, headerBytes as stunHeaderBytes } from "../stun/stun-message.ts";
import { paddedLength } from "../stun/write-stun.ts";

/** RFC 8656 §12.4: the channel and the length. */
export const channelHeaderBytes = 4;
export const isChannelData = (firstByte: number): boolean => (firstByte & 0xc0) === 0x40;

/** Takes a whole message: the bytes from `start` to `end`, which may be kept. */
export type FrameReceiver = (bytes: Buffer, start: number, end: number) => void;

/** Both kinds of message have their length in bytes 2 and 3. */
const lengthEnd = 4;
const nothing = Buffer.alloc(0);

/** Finds the messages of STUN and ChannelData in a stream (RFC 8489 §6.2.2, RFC 8656 §12.5). Keeps at most one unfinished message. */
export class StreamFraming {
  /** The beginning of a message whose end has not come. Its size is that of the message, once that is known. */
  #partial: Buffer | undefined;
  #length = 0;

  get waiting(): number {
    return this.#partial ? this.#length : 0;
  }

  /** Returns what is left of the bytes once `isOver` says so. Undefined where they are neither: there is no way to find the next message. */
  push(chunk: Buffer, onFrame: FrameReceiver, isOver: () => boolean = () => false): Buffer | undefined {
    let at = 0;
    while (at < chunk.length) {
      if (isOver()) return chunk.subarray(at);
      if (this.#partial) {
        const taken = chunk.copy(this.#partial, this.#length, at);
        at += taken;
        this.#length += taken;
        if (this.#length < this.#partial.length) return nothing;
        if (!this.#finish(this.#partial, onFrame)) return undefined;
        continue;
      }
      const left = chunk.length - at;
      const size = left < lengthEnd ? lengthEnd : frameLength(chunk, at);
      if (size === undefined) return undefined;
      if (left < size) {
        this.#begin(size, chunk, at, chunk.length);
        return nothing;
      }
      onFrame(chunk, at, at + size);
      at += size;
    }
    return nothing;
  }

  #begin(size: number, bytes: Buffer, from: number, to: number): void {
    this.#partial = Buffer.allocUnsafeSlow(size);
    this.#length = bytes.copy(this.#partial, 0, from, to);
  }

  /** The partial message has the size that it was given: that of its beginning, or of all. */
  #finish(bytes: Buffer, onFrame: FrameReceiver): boolean {
    const size = frameLength(bytes, 0);
    if (size === undefined) return false;
    if (size > bytes.length) {
      this.#begin(size, bytes, 0, bytes.length);
      return true;
    }
    this.#partial = undefined;
    onFrame(bytes, 0, size);
    return true;
  }
}

/** With padding. Undefined for the first byte of something else, or a length that no message of STUN has. */
function frameLength(bytes: Buffer, at: number): number | undefined {
  const first = bytes[at] as number;
  const length = bytes.readUInt16BE(at + 2);
  if (isChannelData(first)) return channelHeaderBytes + paddedLength(length);
  return isStun(first) && (length & 3) === 0 ? stunHeaderBytes + length : undefined;
}
