import { toBase64 } from "../../../viewer/decode/bytes.ts";

/** The actions of the service. */
export interface FileReceiver {
  begin(name: string, bytes: number): Promise<{ readonly upload: number }>;
  put(upload: number, base64: string): Promise<unknown>;
  end(upload: number): Promise<{ readonly path: string }>;
  cancel(upload: number): Promise<unknown>;
}

/** A frame of the control connection is limited to 1 MiB. */
const pieceBytes = 600 << 10;

/** Sends a file in pieces. Resolves with its path, and with undefined if it was cancelled before all was sent. */
export async function sendFile(
  receiver: FileReceiver,
  file: Pick<File, "name" | "size" | "slice">,
  signal: AbortSignal,
  onProgress: (sentBytes: number) => void,
): Promise<string | undefined> {
  const { upload } = await receiver.begin(file.name, file.size);
  for (let at = 0; at < file.size; at += pieceBytes) {
    if (signal.aborted) {
      await receiver.cancel(upload);
      return undefined;
    }
    await receiver.put(upload, toBase64(new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer())));
    onProgress(Math.min(file.size, at + pieceBytes));
  }
  return (await receiver.end(upload)).path;
}
