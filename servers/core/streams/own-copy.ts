/** Copies of so few bytes share a block: each alone would take hundreds. */
const mostInBlock = 256;
/** What one of them may keep. */
const blockBytes = 1 << 10;

let block = Buffer.alloc(0);
let used = 0;

/** For what may be kept long: in memory of about its own length, and not in what was read with it, or in a block of Node's pool, which it would keep. */
export function ownCopy(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  if (length > mostInBlock) {
    const copy = Buffer.allocUnsafeSlow(length);
    copy.set(bytes);
    return copy;
  }
  if (used + length > block.length) {
    block = Buffer.allocUnsafeSlow(blockBytes);
    used = 0;
  }
  const copy = block.subarray(used, used + length);
  copy.set(bytes);
  used += length;
  return copy;
}

/** The same where the bytes are a part of something much larger; else the bytes themselves. */
export const ownBytes = <Bytes extends Uint8Array>(bytes: Bytes): Bytes | Buffer =>
  bytes.buffer.byteLength > 2 * bytes.length ? ownCopy(bytes) : bytes;
