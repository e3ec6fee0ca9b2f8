/** Pieces that are joined: of a byte, each takes hundreds. */
const manyPieces = 256;
/** Together longer than this, they are left as they are. */
const longestJoined = 64 << 10;

/**
 * Keeps the memory of pieces of what was read near the number of their bytes. To be called with them when one more read was taken: its small pieces get memory of
 * their own, and many small ones are joined.
 */
export function joinSmallPieces(): (pieces: Buffer[], read: Buffer) => void {
  /** Up to there. */
  let joined = 0;
  return (pieces, read) => {
    if (pieces.length < joined) joined = 0;
    copyFrom(pieces, joined, read);
    if (pieces.length - joined < manyPieces) return;
    const latest = pieces.splice(joined);
    const isSmall = bytesOf(latest) <= longestJoined;
    for (const piece of isSmall ? [Buffer.concat(latest)] : latest) pieces.push(piece);
    joined = pieces.length;
  };
}

const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** A view keeps all that was read. */
function copyFrom(pieces: Buffer[], from: number, read: Buffer): void {
  const views = pieces.slice(from).filter(({ buffer }) => buffer === read.buffer);
  if (views.length === 0 || 2 * bytesOf(views) >= read.buffer.byteLength) return;
  for (let index = from; index < pieces.length; index++) {
    const piece = pieces[index] as Buffer;
    if (piece.buffer !== read.buffer) continue;
    const own = Buffer.allocUnsafeSlow(piece.length);
    own.set(piece);
    pieces[index] = own;
  }
}
