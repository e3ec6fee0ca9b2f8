/** RFC 9113 §6 */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** RFC 9113 §7 */
export const errorCodes = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

/** RFC 9113 §6.5.2 */
export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  concurrentStreams: 3,
  initialWindow: 4,
  frameSize: 5,
  headerListSize: 6,
} as const;

export const frameHeaderBytes = 9;
/** RFC 9113 §4.2: what every peer takes. Longer frames would keep other streams waiting. */
export const largestFrame = 16_384;
/** RFC 9113 §6.9.2 */
export const initialWindow = 65_535;
/** RFC 9113 §6.9.1 */
export const largestWindow = 0x7fffffff;

/** RFC 9113 §3.4 */
export const clientPreface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** RFC 9113 §5.4.1: ends the connection. `code` is one of `errorCodes`. */
export class Http2Error extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  /** A part of what was received: valid as long as it is referenced. */
  readonly payload: Buffer;
}

export function writeFrameHeader(into: Buffer, at: number, length: number, type: number, flags: number, streamId: number): void {
  into.writeUIntBE(length, at, 3);
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(streamId, at + 5);
}

export function makeFrame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + payload.length);
  writeFrameHeader(frame, 0, payload.length, type, flags, streamId);
  frame.set(payload, frameHeaderBytes);
  return frame;
}

export function makeNumberFrame(type: number, streamId: number, value: number): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + 4);
  writeFrameHeader(frame, 0, 4, type, 0, streamId);
  frame.writeUInt32BE(value, frameHeaderBytes);
  return frame;
}

/** RFC 9113 §6.8 */
export function makeGoaway(lastStream: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastStream, 0);
  payload.writeUInt32BE(code, 4);
  return makeFrame(frameTypes.goaway, 0, 0, payload);
}

export function makeSettings(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(6 * settings.length);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  }
  return makeFrame(frameTypes.settings, 0, 0, payload);
}

export const protocolError = (why: string): Http2Error => new Http2Error(errorCodes.protocol, why);

/** Throws an `Http2Error` for a frame of another length. */
export function requireLength({ length }: Buffer, wanted: number): void {
  if (length !== wanted) throw new Http2Error(errorCodes.frameSize, `a frame has ${length} bytes, and not ${wanted}`);
}

/** RFC 9113 §6.1: the padding is behind the data, and its length before it; `skip` bytes are before the data, too. Throws an `Http2Error`. */
export function withoutPadding(payload: Buffer, flags: number, skip: number): Buffer {
  const isPadded = (flags & frameFlags.padded) !== 0;
  const start = (isPadded ? 1 : 0) + skip;
  if (payload.length < start) throw new Http2Error(errorCodes.frameSize, "a frame is too short for its flags");
  const end = payload.length - (isPadded ? (payload[0] as number) : 0);
  if (end < start) throw protocolError("the padding is longer than its frame");
  return start === 0 ? payload : payload.subarray(start, end);
}
