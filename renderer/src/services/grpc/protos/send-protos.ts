import type { GrpcProtosAdded } from "../../../../../contract/services/grpc.ts";
import { toBase64 } from "../../../viewer/decode/bytes.ts";
import type { NamedFile } from "./dropped-files.ts";

/** The actions of the service. */
export interface ProtoReceiver {
  begin(): Promise<{ readonly upload: number }>;
  put(upload: number, pieces: readonly ProtoPiece[]): Promise<unknown>;
  end(upload: number): Promise<GrpcProtosAdded>;
  cancel(upload: number): Promise<unknown>;
}

export interface ProtoPiece {
  readonly name: string;
  readonly base64: string;
}

/** A frame of the control connection is limited to 1 MiB. */
const pieceBytes = 360 << 10;
const frameCharacters = 600 << 10;
const framePieces = 1_000;

/**
 * Sends files in pieces that fit a frame, several small ones together. Resolves with their problems when they are served, and with
 * undefined if it was cancelled before all were sent.
 */
export async function sendProtos(
  receiver: ProtoReceiver,
  files: readonly NamedFile[],
  signal: AbortSignal,
  onProgress: (sentBytes: number) => void,
): Promise<GrpcProtosAdded | undefined> {
  const { upload } = await receiver.begin();
  let pieces: ProtoPiece[] = [];
  let characters = 0;
  let sent = 0;
  let read = 0;
  const flush = async () => {
    if (pieces.length === 0) return;
    await receiver.put(upload, pieces);
    sent += read;
    onProgress(sent);
    pieces = [];
    characters = 0;
    read = 0;
  };
  for (const { name, file } of files) {
    let at = 0;
    // An empty file is sent, too.
    do {
      if (signal.aborted) {
        await receiver.cancel(upload);
        return undefined;
      }
      const bytes = new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer());
      const piece = { name, base64: toBase64(bytes) };
      // A name may have characters that JSON escapes.
      const size = piece.base64.length + 6 * name.length;
      if (characters + size > frameCharacters || pieces.length === framePieces) await flush();
      pieces.push(piece);
      characters += size;
      read += bytes.length;
      at += pieceBytes;
    } while (at < file.size);
  }
  await flush();
  return receiver.end(upload);
}
