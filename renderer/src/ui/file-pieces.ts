/** Each character may take six once it is escaped, and a frame of the control connection holds one mebibyte. */
const pieceBytes = 160 << 10;

/** A file as text in pieces that can be sent; a character that lies on the border of two is in one of them. */
export async function* filePieces(
  file: Pick<File, "size" | "slice">,
): AsyncGenerator<{ readonly text: string /** Of the file, with this piece. */; readonly bytesRead: number }> {
  const decoder = new TextDecoder();
  for (let at = 0; at < file.size; at += pieceBytes) {
    const bytes = await file.slice(at, at + pieceBytes).arrayBuffer();
    const bytesRead = Math.min(file.size, at + pieceBytes);
    const text = decoder.decode(bytes, { stream: bytesRead < file.size });
    if (text !== "") yield { text, bytesRead };
  }
}
