import { frameHeaderBytes, writeFrameHeader } from "./frames.ts";

const standardBytes = 128 << 10;

/** Frames that are written together. The bytes are in a buffer that all connections use one after the other. */
export class FrameBatch {
  bytes: Buffer = Buffer.allocUnsafeSlow(standardBytes);
  length = 0;

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
    this.length = 0;
    if (this.bytes.length > standardBytes) this.bytes = Buffer.allocUnsafeSlow(standardBytes);
    return taken;
  }
}
