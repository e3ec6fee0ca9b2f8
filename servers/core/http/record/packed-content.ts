import { unzipSync, constants as zlib } from "node:zlib";

export interface PackedContent {
  readonly content: Buffer;
  /** There is more of it, which is not read. */
  readonly isStart: boolean;
}

/** To look for credentials in more would take the time of others. */
const mostBytes = 256 << 10;
/** A byte becomes up to 1,032 (RFC 1951): about as many. */
const startBytes = 256;

/** By its first bytes: clients send a packed body without a Content-Encoding too. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;
/** RFC 1950 §2.2: the window and the levels that are in use. */
const mayBeZlib = (bytes: Uint8Array): boolean => bytes[0] === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(bytes[1] ?? 0);

/** What is in a body of gzip or zlib, also in one that was cut; undefined where it is none, and "unreadable" for gzip that is broken. */
export function contentOfPacked(bytes: Buffer): PackedContent | "unreadable" | undefined {
  if (!isGzip(bytes) && !mayBeZlib(bytes)) return undefined;
  try {
    return { content: unpacked(bytes, mostBytes), isStart: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") return isGzip(bytes) ? "unreadable" : undefined;
  }
  const content = unpacked(bytes.subarray(0, startBytes), 2 * mostBytes);
  // A head that is longer tells nothing.
  return content.length === 0 ? "unreadable" : { content, isStart: true };
}

const unpacked = (bytes: Buffer, maxOutputLength: number): Buffer => unzipSync(bytes, { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength });
