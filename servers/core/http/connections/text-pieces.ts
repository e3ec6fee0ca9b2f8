/** Bytes of a piece, which is written at once. */
const pieceBytes = 64 << 10;

/** The texts of a long answer, one of them made in a step, in pieces of some size; `onPiece` gets the length of each. */
export function* textPieces(texts: Iterable<string>, onPiece: (bytes: number) => void = () => {}): Generator<void, readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let text = "";
  function add(): void {
    const piece = Buffer.from(text);
    pieces.push(piece);
    onPiece(piece.length);
    text = "";
  }
  for (const part of texts) {
    text += part;
    if (text.length >= pieceBytes) add();
    yield;
  }
  if (text !== "") add();
  return pieces;
}
