import type { HeaderList } from "../../../../contract/traffic/http.ts";
import type { RtspMessagePart } from "../../../../contract/traffic/rtsp.ts";
import { fromBase64 } from "../../viewer/decode/bytes.ts";

export interface ReadMessage {
  /** "DESCRIBE rtsp://… RTSP/1.0" */
  readonly startLine: string;
  readonly headers: HeaderList;
  /** What is kept of it. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly bodyBytes: number;
  readonly contentType: string;
}

/** A recorded request or answer of RTSP; of one that was cut, what is there. */
export function readMessage({ base64, bytes }: Pick<RtspMessagePart, "base64" | "bytes">): ReadMessage {
  const kept = fromBase64(base64);
  const text = new TextDecoder("latin1").decode(kept);
  const end = /\r?\n\r?\n/.exec(text);
  const headBytes = end ? end.index + end[0].length : kept.length;
  const [startLine = "", ...lines] = text.slice(0, end?.index ?? text.length).split(/\r?\n/);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const contentType = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "text/plain";
  return { startLine, headers, body: kept.slice(headBytes), bodyBytes: end ? bytes - headBytes : 0, contentType };
}
