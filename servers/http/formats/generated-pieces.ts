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

export const fillWithStars: Fill = (bytes) => void bytes.fill("*");

const letters = Buffer.from("abcdefghijklmnopqrstuvwxyz");

/** The letters a to z over and over, from this one on. */
export const fillWithLetters =
  (first: number): Fill =>
  (bytes, start) => {
    const from = (first + start) % letters.length;
    bytes.fill(Buffer.concat([letters.subarray(from), letters.subarray(0, from)]));
  };
