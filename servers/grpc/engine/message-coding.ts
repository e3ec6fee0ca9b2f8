import { promisify } from "node:util";
import { createGunzip, createInflate, deflate, deflateSync, gzip, gzipSync, type ZlibOptions } from "node:zlib";
import { prefixBytes } from "./message-type.ts";
import { StatusError } from "./status.ts";

/** Codings of messages, by their names in `grpc-encoding`. "deflate" is the zlib format. */
export const messageCodings = ["identity", "gzip", "deflate"] as const;
export type MessageCoding = (typeof messageCodings)[number];

/** The coding if the client accepts it. */
export function acceptedCoding(coding: MessageCoding, acceptEncoding: string): MessageCoding {
  return coding !== "identity" && acceptEncoding.split(",").some((one) => one.trim() === coding) ? coding : "identity";
}

/** Up to this size, compressing takes less time than handing the message to another thread. */
const compressedAtOnce = 16 << 10;
const compressors = {
  gzip: { now: gzipSync, later: promisify(gzip) },
  deflate: { now: deflateSync, later: promisify(deflate) },
} as const;

/** What a result may have beside the message, which is stored where it cannot be made shorter. */
const headBytes = 64;

/** Compresses the message of a frame; a large one asynchronously. */
export function compressFrame(frame: Buffer, coding: Exclude<MessageCoding, "identity">): Buffer | Promise<Buffer> {
  const message = frame.subarray(prefixBytes);
  const { now, later } = compressors[coding];
  return message.length <= compressedAtOnce
    ? compressedFrame(now(message, optionsFor(message.length)))
    : later(message).then(compressedFrame);
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

/**
 * Rejects with a `StatusError` for bytes that are damaged or become longer than the limit. `onLength` gets the length so far, and ends it where
 * it returns false: then it rejects with an error of no account.
 */
export function inflateMessage(
  message: Uint8Array,
  coding: string,
  limit: number,
  onLength: (bytes: number) => boolean = () => true,
): Promise<Buffer> {
  if (coding === "identity" || coding === "") {
    return Promise.reject(new StatusError("INTERNAL", "a message says that it is compressed, and grpc-encoding does not say how"));
  }
  if (coding !== "gzip" && coding !== "deflate") {
    return Promise.reject(
      new StatusError("UNIMPLEMENTED", `messages compressed with ${coding.slice(0, 40)} are not accepted; use gzip or deflate`),
    );
  }
  return new Promise((resolve, reject) => {
    const inflater = coding === "gzip" ? createGunzip() : createInflate();
    const chunks: Buffer[] = [];
    let length = 0;
    inflater.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limit && onLength(length)) return;
      inflater.destroy();
      chunks.length = 0;
      reject(new StatusError("RESOURCE_EXHAUSTED", `a message is longer than ${limit} bytes when it is decompressed`));
    });
    inflater.on("error", () => reject(new StatusError("INTERNAL", `a message cannot be decompressed: its bytes are not ${coding}`)));
    inflater.on("end", () => resolve(Buffer.concat(chunks, length)));
    inflater.end(message);
  });
}
