/** RFC 3550 §5.1; the payload is a view of the datagram. */
export interface RtpPacket {
  readonly payloadType: number;
  readonly isMarked: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

export const rtpHeaderBytes = 12;

/** Undefined for bytes that are no RTP packet of version 2, or whose extension or padding is longer than they are. */
export function parseRtpPacket(bytes: Buffer): RtpPacket | undefined {
  if (bytes.length < rtpHeaderBytes) return undefined;
  const first = bytes[0] as number;
  if (first >> 6 !== 2) return undefined;
  let start = rtpHeaderBytes + 4 * (first & 0x0f);
  let end = bytes.length;
  if (first & 0x10) {
    if (start + 4 > end) return undefined;
    start += 4 + 4 * bytes.readUInt16BE(start + 2);
  }
  if (first & 0x20) {
    const padding = bytes[end - 1] as number;
    if (padding === 0) return undefined;
    end -= padding;
  }
  if (start > end) return undefined;
  const second = bytes[1] as number;
  return {
    payloadType: second & 0x7f,
    isMarked: second >= 0x80,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  };
}

/** RFC 5761 §4: RTCP has the packet types 192 to 223 where RTP has marker and payload type. */
export const isRtcp = (bytes: Buffer): boolean => bytes.length >= 8 && (bytes[1] as number) >= 192 && (bytes[1] as number) <= 223;

/** How far `sequence` is ahead of `than`, from -32768 to 32767. */
export const sequenceDistance = (sequence: number, than: number): number => ((sequence - than) << 16) >> 16;

/** Continues 32-bit timestamps beyond 2^32, and back. */
export class TimestampUnwrapper {
  #last: number | undefined;

  unwrap(timestamp: number): number {
    this.#last = this.#last === undefined ? timestamp : this.#last + ((timestamp - (this.#last % 2 ** 32)) | 0);
    return this.#last;
  }
}
