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

/** Each character may take six bytes when escaped, and a frame of the control connection is limited to 1 MiB. */
const pieceBytes = 160 << 10;

/** Reads a file as text in pieces that fit a frame; a character at a boundary is not split. */
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
