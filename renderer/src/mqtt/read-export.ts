import type { MqttActions } from "../../../contract/mqtt.ts";
import type { ParamsOf, ResultOf } from "../../../contract/operation.ts";

export type ReadExportPage = (
  params: ParamsOf<MqttActions["history.export"]>,
) => Promise<Pick<ResultOf<MqttActions["history.export"]>, "lines" | "after" | "share">>;

export interface ExportProgress {
  readonly messages: number;
  /** Of the history, 0 to 1. */
  readonly share: number;
}

/** The parts of a file with all kept messages that match, oldest first; undefined where it was cancelled. */
export async function readExport(
  read: ReadExportPage,
  query: { readonly filter: string; readonly text: string },
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<{ readonly parts: readonly string[]; readonly messages: number } | undefined> {
  const parts: string[] = [];
  let messages = 0;
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: Awaited<ReturnType<ReadExportPage>> = await read({ ...query, after });
    if (signal.aborted) return undefined;
    parts.push(page.lines.map((line) => `${line}\n`).join(""));
    messages += page.lines.length;
    after = page.after;
    onProgress({ messages, share: page.share });
  }
  return { parts, messages };
}
