/** Offers text or bytes to the user as a file. */
export function saveFile(name: string, content: BlobPart, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download starts in the click's task.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** Each character may take six once it is escaped, and a frame of the control connection holds one mebibyte. */
const pieceBytes = 160 << 10;

/** A file as text in pieces that can be sent; a character at the border of two is in one of them. */
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
