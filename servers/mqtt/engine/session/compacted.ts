/** For bytes that are kept: the same, or a copy where they are a small part of memory that they would hold. */
export function compacted(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * 2 || bytes.length === 0) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
