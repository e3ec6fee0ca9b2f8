/** Bytes of a piece, which is written at once. */
const pieceBytes = 64 << 10;

/** The texts of a long answer, one of them made in a step, in pieces of some size. */
export function* textPieces(texts: Iterable<string>): Generator<void, readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let text = "";
  for (const part of texts) {
    text += part;
    if (text.length >= pieceBytes) {
      pieces.push(Buffer.from(text));
      text = "";
    }
    yield;
  }
  if (text !== "") pieces.push(Buffer.from(text));
  return pieces;
}
