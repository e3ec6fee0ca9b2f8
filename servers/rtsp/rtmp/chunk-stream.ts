/** The messages of a connection in chunks, Adobe's Real-Time Messaging Protocol 1.0 §5.3. */

export interface RtmpMessage {
  /** One of `messageType`. */
  readonly type: number;
  readonly stream: number;
  /** Milliseconds, modulo 2^32. */
  readonly timestamp: number;
  /** In memory of its own. */
  readonly payload: Buffer;
}

export const messageType = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowSize: 5,
  peerBandwidth: 6,
  audio: 8,
  video: 9,
  data3: 15,
  command3: 17,
  data: 18,
  command: 20,
} as const;

export class RtmpError extends Error {}

export interface ChunkLimits {
  /** Of one message. It counts when a message begins, so it may change. */
  messageBytes: number;
  /** Chunk streams of a connection; usual clients use five. */
  readonly chunkStreams: number;
}

interface ChunkStream {
  timestamp: number;
  /** Of the last header with one; a message without a header repeats it. */
  delta: number;
  length: number;
  type: number;
  stream: number;
  isExtended: boolean;
  /** Of the message that is not complete: the first `received` bytes. It grows up to `length`. */
  payload: Buffer;
  received: number;
}

/** The size before another one is set; §5.4.1 asks for no smaller one. */
const firstChunkBytes = 128;
const firstPayloadBytes = 4_096;
const mostChunkBytes = 0xff_ffff;
const headerBytes = [11, 7, 3, 0] as const;
const extended = 0xff_ffff;

/** Makes messages of chunks; what is not complete is bounded by the limits. */
export class ChunkReader {
  readonly #limits: ChunkLimits;
  readonly #streams = new Map<number, ChunkStream>();
  #chunkBytes = firstChunkBytes;
  /** Bytes that do not end a header yet. */
  #rest: Buffer = Buffer.alloc(0);
  #current: ChunkStream | undefined;
  /** Of the current chunk. */
  #left = 0;
  /** Of all messages that are not complete. */
  #received = 0;
  /** The memory of those. */
  heldBytes = 0;

  constructor(limits: ChunkLimits) {
    this.#limits = limits;
  }

  /** The messages that are complete with these bytes. Throws an RtmpError; the connection is of no use then. */
  *push(bytes: Buffer): Generator<RtmpMessage> {
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = noBytes;
    for (;;) {
      if (!this.#current) {
        const size = this.#readHeader(input);
        if (size === undefined) {
          this.#rest = Buffer.from(input);
          return;
        }
        input = input.subarray(size);
      }
      const stream = this.#current as ChunkStream | undefined;
      if (!stream) throw new RtmpError("a chunk has no stream");
      const count = Math.min(this.#left, input.length);
      if (count > 0) {
        this.heldBytes += append(stream, input, count);
        this.#received += count;
        this.#left -= count;
        input = input.subarray(count);
        if (this.#received > 2 * this.#limits.messageBytes) throw new RtmpError("too many messages are begun and not ended");
      }
      if (this.#left > 0) return;
      this.#current = undefined;
      if (stream.received === stream.length) yield* this.#complete(stream);
      if (input.length === 0) return;
    }
  }

  /** Frees what is not complete; nothing more may be pushed. */
  clear(): void {
    for (const stream of this.#streams.values()) this.#drop(stream);
  }

  /** The size of the header, which is taken; undefined where it is not complete. */
  #readHeader(input: Buffer): number | undefined {
    const first = input[0];
    if (first === undefined) return undefined;
    const basicBytes = (first & 0x3f) > 1 ? 1 : 2 + (first & 1);
    if (input.length < basicBytes) return undefined;
    const id = basicBytes === 1 ? first & 0x3f : 64 + (input[1] as number) + (basicBytes === 3 ? 256 * (input[2] as number) : 0);
    const format = (first >> 6) as 0 | 1 | 2 | 3;
    const fieldBytes = headerBytes[format];
    const size = basicBytes + fieldBytes;
    if (input.length < size) return undefined;
    const known = this.#streams.get(id);
    const timeField = format === 3 ? undefined : input.readUIntBE(basicBytes, 3);
    const isExtended = timeField === undefined ? (known?.isExtended ?? false) : timeField === extended;
    if (input.length < size + (isExtended ? 4 : 0)) return undefined;
    const stream = known ?? this.#open(id, format);
    const given = isExtended ? input.readUInt32BE(size) : timeField;
    // Clients differ in what the time of a header without a field of its own repeats; the difference is the same for all.
    const time = format === 3 ? stream.delta : (given as number);
    if (stream.received > 0) {
      // A message is never interrupted within its chunk stream.
      if (format !== 3) throw new RtmpError("a message begins within another one");
    } else this.#begin(stream, format, time, input.subarray(basicBytes, size), isExtended);
    this.#current = stream;
    this.#left = Math.min(this.#chunkBytes, stream.length - stream.received);
    return size + (isExtended ? 4 : 0);
  }

  #open(id: number, format: number): ChunkStream {
    if (format !== 0 && format !== 1) throw new RtmpError("a chunk continues what never began");
    if (this.#streams.size >= this.#limits.chunkStreams) throw new RtmpError("there are too many chunk streams");
    const stream = { timestamp: 0, delta: 0, length: 0, type: 0, stream: 0, isExtended: false, payload: noBytes, received: 0 };
    this.#streams.set(id, stream);
    return stream;
  }

  #begin(stream: ChunkStream, format: 0 | 1 | 2 | 3, time: number, fields: Buffer, isExtended: boolean): void {
    if (format <= 1) {
      stream.length = fields.readUIntBE(3, 3);
      stream.type = fields[6] as number;
      if (stream.length > this.#limits.messageBytes) throw new RtmpError(`a message of ${stream.length} bytes is too long`);
    }
    if (format === 0) stream.stream = fields.readUInt32LE(7);
    stream.isExtended = isExtended;
    stream.timestamp = format === 0 ? time : (stream.timestamp + time) >>> 0;
    stream.delta = format === 0 ? 0 : time;
  }

  *#complete(stream: ChunkStream): Generator<RtmpMessage> {
    const { type, timestamp, payload } = stream;
    this.#drop(stream);
    if (type === messageType.setChunkSize) this.#setChunkSize(payload);
    else if (type === messageType.abort) {
      const aborted = payload.length >= 4 ? this.#streams.get(payload.readUInt32BE()) : undefined;
      if (aborted) this.#drop(aborted);
    } else yield { type, stream: stream.stream, timestamp, payload };
  }

  #drop(stream: ChunkStream): void {
    this.#received -= stream.received;
    this.heldBytes -= stream.payload.length;
    stream.payload = noBytes;
    stream.received = 0;
  }

  #setChunkSize(payload: Buffer): void {
    const size = payload.length >= 4 ? payload.readUInt32BE() : 0;
    if (size < firstChunkBytes || size > mostChunkBytes) throw new RtmpError(`a chunk size of ${size} is not allowed`);
    this.#chunkBytes = size;
  }
}

const noBytes = Buffer.alloc(0);

/** Returns by how many bytes the memory of the message has grown. */
function append(stream: ChunkStream, input: Buffer, count: number): number {
  const before = stream.payload.length;
  const needed = stream.received + count;
  if (needed > stream.payload.length) {
    // Without the pool of Node: the message is passed to another thread as it is, and is as long as its memory when it is complete.
    const grown = Buffer.allocUnsafeSlow(Math.min(stream.length, Math.max(firstPayloadBytes, 2 * needed)));
    stream.payload.copy(grown, 0, 0, stream.received);
    stream.payload = grown;
  }
  input.copy(stream.payload, stream.received, 0, count);
  stream.received = needed;
  return stream.payload.length - before;
}

/** Of what we send. */
export const sentChunkBytes = 4_096;

export interface SentMessage {
  readonly type: number;
  /** 2 for the control of the protocol, 3 for commands (§5.3.1.1). */
  readonly chunkStream: 2 | 3;
  readonly stream: number;
  readonly payload: Buffer;
}

/** In chunks of at most `sentChunkBytes`, with timestamp 0. */
export function writeMessage({ type, chunkStream, stream, payload }: SentMessage): Buffer {
  const head = Buffer.alloc(12);
  head[0] = chunkStream;
  head.writeUIntBE(payload.length, 4, 3);
  head[7] = type;
  head.writeUInt32LE(stream, 8);
  const parts: Buffer[] = [head];
  for (let at = 0; at < payload.length; at += sentChunkBytes) {
    if (at > 0) parts.push(Buffer.from([0xc0 | chunkStream]));
    parts.push(payload.subarray(at, at + sentChunkBytes));
  }
  return Buffer.concat(parts);
}
