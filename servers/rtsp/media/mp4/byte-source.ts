import { closeSync, fstatSync, readSync } from "node:fs";
import { openRegularFileSync } from "../../../core/files/regular-file.ts";
import { damaged } from "./media-file-error.ts";
import type { Steps } from "./sample-table.ts";

/** A file whose parts are read when they are needed. To read a sample is short enough to be done at once; an index is read in steps. */
export interface ByteSource {
  readonly size: number;
  /** A buffer of its own. Throws where the file ends before it. */
  read(position: number, length: number): Buffer;
  close(): void;
}

export function openByteSource(file: string): ByteSource {
  const descriptor = openRegularFileSync(file);
  try {
    const { size } = fstatSync(descriptor);
    return { size, read: (position, length) => readFully(descriptor, position, length), close: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function readFully(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, position + filled);
    if (count === 0) throw damaged("it has become shorter since it was opened");
    filled += count;
  }
  return bytes;
}

/** Read in one step. */
const stepBytes = 1 << 20;

/** As `read`, for what may be long. */
export function* readInSteps(source: ByteSource, position: number, length: number): Steps<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += stepBytes) {
    source.read(position + at, Math.min(stepBytes, length - at)).copy(bytes, at);
    yield;
  }
  return bytes;
}

export const bufferSource = (bytes: Buffer): ByteSource => ({
  size: bytes.length,
  read(position, length) {
    if (position + length > bytes.length) throw damaged("it ends too early");
    return bytes.subarray(position, position + length);
  },
  close() {},
});
