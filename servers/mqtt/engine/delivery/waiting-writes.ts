/** A longer one is kept as it is. */
const joinedBytes = 4_096;
const [firstBytes, mostBytes] = [512, 16_384];

/**
 * Bytes that wait while a socket sends others. Short ones are joined: in the queue of a stream each write takes some hundred bytes of memory,
 * and a client that reads nothing may cause a million of two bytes.
 */
export class WaitingWrites {
  private parts: Buffer[] = [];
  /** The last part, filled up to `end`. */
  private last: Buffer | undefined = undefined;
  private end = 0;
  bytes = 0;

  /** True if the bytes were copied, so that their memory may be reused. */
  add(bytes: Buffer): boolean {
    this.bytes += bytes.length;
    if (bytes.length > joinedBytes) {
      this.close();
      this.parts.push(bytes);
      return false;
    }
    if (!this.last || this.last.length - this.end < bytes.length) this.open(bytes.length);
    this.end += bytes.copy(this.last as Buffer, this.end);
    return true;
  }

  private open(least: number): void {
    const length = Math.max(least, this.last ? Math.min(mostBytes, 2 * this.last.length) : firstBytes);
    this.close();
    this.last = Buffer.allocUnsafeSlow(length);
  }

  private close(): void {
    if (this.last) this.parts.push(this.last.subarray(0, this.end));
    this.last = undefined;
    this.end = 0;
  }

  /** All of them, in order; none are left. */
  take(): readonly Buffer[] {
    this.close();
    const { parts } = this;
    this.parts = [];
    this.bytes = 0;
    return parts;
  }
}
