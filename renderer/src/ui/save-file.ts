/** Offers text or bytes to the user as a file. */
export function saveFile(name: string, content: BlobPart, type = "text/plain"): void {
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun once the click's task is over.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
