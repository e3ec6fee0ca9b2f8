import type { MqttReplayFile } from "../../../../../contract/services/mqtt.ts";
import { failureOf } from "../../../control/failure-error.ts";
import { filePieces } from "../../../ui/file-pieces.ts";

export interface ReplayReceiver {
  begin(name: string, sizeBytes: number): Promise<MqttReplayFile>;
  text(file: number, text: string): Promise<unknown>;
  end(file: number): Promise<unknown>;
}

/** Hands a recorded file over piece by piece; how far it is, the service's own view tells. Resolves too when it was cancelled. */
export async function sendReplayFile(receiver: ReplayReceiver, file: Pick<File, "name" | "size" | "slice">): Promise<void> {
  const { id } = await receiver.begin(file.name, file.size);
  try {
    for await (const { text } of filePieces(file)) await receiver.text(id, text);
    await receiver.end(id);
  } catch (error) {
    // Cancelled, here or in another window, or another file was chosen meanwhile.
    if (failureOf(error).code !== "JOB_UNKNOWN") throw error;
  }
}
