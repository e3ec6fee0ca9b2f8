import { promisify } from "node:util";
import { createGunzip, createInflate, deflate, deflateSync, gunzipSync, gzip, gzipSync, inflateSync, type ZlibOptions } from "node:zlib";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import { prefixBytes } from "./message-type.ts";
import { StatusError, UnreadableRequest } from "./status.ts";

/** Codings of messages, by their names in `grpc-encoding`. "deflate" is the zlib format. */
export const messageCodings = ["identity", "gzip", "deflate"] as const;
export type MessageCoding = (typeof messageCodings)[number];

/** Of those that a client lists. There may be tens of thousands. */
const mostListed = 32;

/** The first codings of a list. */
export const listedCodings = (acceptEncoding: string): readonly string[] => acceptEncoding.split(",", mostListed);

/** The coding if the client accepts it. */
export function acceptedCoding(coding: MessageCoding, acceptEncoding: string): MessageCoding {
  return coding !== "identity" && listedCodings(acceptEncoding).some((one) => one.trim() === coding) ? coding : "identity";
}

/** Up to this size, compressing takes less time than handing the message to another thread. */
const compressedAtOnce = 16 << 10;
const compressors = {
  gzip: { now: gzipSync, later: promisify(gzip) },
  deflate: { now: deflateSync, later: promisify(deflate) },
} as const;

/** What a result may have beside the message, which is stored where it cannot be made shorter. */
const headBytes = 64;

/** What is used of a connection's part in the turns of all. */
type Threads = Pick<WorkConnection, "runElsewhere" | "run">;

/** Compresses the message of a frame; a large one by another thread. */
export function compressFrame(frame: Buffer, coding: Exclude<MessageCoding, "identity">, work: Threads): Buffer | Promise<Buffer> {
  const message = frame.subarray(prefixBytes);
  const { now, later } = compressors[coding];
  return message.length <= compressedAtOnce
    ? compressedFrame(now(message, optionsFor(message.length)))
    : work.runElsewhere(() => later(message)).then(compressedFrame);
}

/** zlib takes 268 kB for a large message and the window that it may refer to, and Node 16 KiB for the result: for a short message most of its time. */
function optionsFor(bytes: number): ZlibOptions {
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(bytes + 1)) + 1));
  return { windowBits, memLevel: Math.max(1, windowBits - 7), chunkSize: bytes + headBytes };
}

function compressedFrame(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 1;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Up to this many bytes, and so many of the message, decompressing takes less time than handing them to another thread. */
const inflatedAtOnce = { from: 4 << 10, to: 64 << 10 } as const;
const inflaters = {
  gzip: { now: gunzipSync, create: createGunzip },
  deflate: { now: inflateSync, create: createInflate },
} as const;

/** Of a short message. */
const shortPieceBytes = ({ length }: Uint8Array): number => Math.min(inflatedAtOnce.to, Math.max(1 << 10, 8 * length));

/**
 * Each piece of the message is a job of the thread, a call of ours and a copy. The last bytes of gzip say how long the message is, modulo 2^32 (RFC 1952
 * §2.3.1): it may be one piece, with some bytes more, or zlib would begin another one.
 */
function pieceBytes(message: Uint8Array, coding: keyof typeof inflaters, limit: number): number {
  if (coding !== "gzip" || message.length < 4) return inflatedAtOnce.to;
  const said = new DataView(message.buffer, message.byteOffset).getUint32(message.length - 4, true);
  return Math.max(inflatedAtOnce.to, Math.min(said, limit) + headBytes);
}

/**
 * Rejects with a `StatusError` for bytes that are damaged or become longer than the limit. A long message waits until it is the connection's turn to have one
 * decompressed, and for its turn to go on. `onLength` gets the length so far, and ends it where it returns false: then it rejects with an error of no account.
 */
export async function inflateMessage(
  message: Uint8Array,
  coding: string,
  limit: number,
  work: Threads,
  onLength: (bytes: number) => boolean = () => true,
): Promise<Buffer> {
  if (coding === "identity" || coding === "") {
    throw new StatusError("INTERNAL", "a message says that it is compressed, and grpc-encoding does not say how");
  }
  if (coding !== "gzip" && coding !== "deflate") {
    throw new StatusError("UNIMPLEMENTED", `messages compressed with ${coding.slice(0, 40)} are not accepted; use gzip or deflate`);
  }
  const now = message.length <= inflatedAtOnce.from ? inflatedNow(message, coding, limit) : undefined;
  if (now) return now;
  const bytes = await work.runElsewhere(() => inflatedInPieces(message, coding, limit, onLength));
  return await work.run(oneStep(() => bytes));
}

/** Undefined where it is too long for that. */
function inflatedNow(message: Uint8Array, coding: keyof typeof inflaters, limit: number): Buffer | undefined {
  const maxOutputLength = Math.max(1, Math.min(limit, inflatedAtOnce.to));
  try {
    return inflaters[coding].now(message, { maxOutputLength, chunkSize: shortPieceBytes(message) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw damaged(coding);
    if (limit <= inflatedAtOnce.to) throw tooLongInflated(limit);
    return undefined;
  }
}

function inflatedInPieces(
  message: Uint8Array,
  coding: keyof typeof inflaters,
  limit: number,
  onLength: (bytes: number) => boolean,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    if (!onLength(length)) {
      reject(tooLongInflated(limit));
      return;
    }
    const inflater = inflaters[coding].create({ chunkSize: pieceBytes(message, coding, limit) });
    inflater.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limit && onLength(length)) return;
      inflater.destroy();
      chunks.length = 0;
      reject(tooLongInflated(limit));
    });
    inflater.on("error", () => reject(damaged(coding)));
    inflater.on("end", () => resolve(joined(chunks, length)));
    inflater.end(message);
  });
}

/** A short piece would keep all of its buffer in memory. */
function joined(pieces: readonly Buffer[], length: number): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first && first.length >= first.buffer.byteLength / 2 ? first : Buffer.concat(pieces, length);
}

const damaged = (coding: string) => new UnreadableRequest(`a message cannot be decompressed: its bytes are not ${coding}`);
const tooLongInflated = (limit: number) =>
  new StatusError("RESOURCE_EXHAUSTED", `a message is longer than ${limit} bytes when it is decompressed`);
