import { frameHeaderBytes, writeFrameHeader } from "./frames.ts";

/** Frames that are written together, one behind the other in one buffer. */
export class FrameBatch {
  readonly #keptBytes: number;
  bytes: Buffer;
  length = 0;

  /** `keptBytes`: of the buffer while the batch is empty. */
  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
    this.bytes = Buffer.allocUnsafeSlow(keptBytes);
  }

  /** Makes room for so many bytes more. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  push(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Leaves the place of a frame's header; returns where it is. */
  beginFrame(): number {
    this.reserve(frameHeaderBytes);
    const at = this.length;
    this.length += frameHeaderBytes;
    return at;
  }

  endFrame(at: number, type: number, flags: number, streamId: number): void {
    writeFrameHeader(this.bytes, at, this.length - at - frameHeaderBytes, type, flags, streamId);
  }

  /** A copy of all that was written; the batch is empty after that. */
  take(): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, this.length));
    this.#clear();
    return taken;
  }

  /** Moves all that was written behind what is in the other batch. */
  moveTo(batch: FrameBatch): void {
    batch.push(this.bytes.subarray(0, this.length));
    this.#clear();
  }

  #clear(): void {
    this.length = 0;
    if (this.bytes.length > this.#keptBytes) this.bytes = Buffer.allocUnsafeSlow(this.#keptBytes);
  }
}
