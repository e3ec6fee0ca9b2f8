import { randomFillSync } from "node:crypto";
import { seededRandom } from "../../core/traffic/seeded-random.ts";

/** Fills the bytes, which come `start` bytes after the first one of all. */
type Fill = (bytes: Buffer, start: number) => void;

const bytesInStep = 8 << 10;
export const standardPiece = 16 << 10;

/** Pieces of so many bytes, of which the last may have fewer. Each `undefined` is a step on the way to the next one. */
export function* generatedPieces(count: number, pieceBytes: number, fill: Fill): Generator<Buffer | undefined, void> {
  for (let start = 0; start < count; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, count - start));
    for (let at = 0; at < piece.length; ) {
      const filled = piece.subarray(at, at + bytesInStep);
      fill(filled, start + at);
      at += filled.length;
      if (at < piece.length) yield undefined;
    }
    yield piece;
    start += piece.length;
  }
}

export const fillWithRandom: Fill = (bytes) => void randomFillSync(bytes);

/** The same bytes for the same seed; to be called in their order. */
export function fillBySeed(seed: string): Fill {
  const next = seededRandom(seed);
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(next() * 256);
  };
}

const repeated = (text: string): Buffer => Buffer.alloc(standardPiece + text.length, text);
const stars = repeated("*");
const alphabet = "abcdefghijklmnopqrstuvwxyz";
const letters = repeated(alphabet);

/** Pieces of bytes that all answers share. */
function* sharedPieces(shared: Buffer, period: number, first: number, count: number, pieceBytes: number): Generator<Buffer, void> {
  const most = Math.min(pieceBytes, standardPiece);
  for (let at = 0; at < count; at += most) {
    const from = (first + at) % period;
    yield shared.subarray(from, from + Math.min(most, count - at));
  }
}

export const starPieces = (count: number): Iterable<Buffer> => sharedPieces(stars, 1, 0, count, standardPiece);

/** The letters a to z over and over, from this one on. */
export const letterPieces = (first: number, count: number, pieceBytes: number): Iterable<Buffer> =>
  sharedPieces(letters, alphabet.length, first, count, pieceBytes);
