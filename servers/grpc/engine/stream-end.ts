import { errorCodes } from "../../core/http2/frames.ts";
import type { Http2Stream } from "../../core/http2/http2-stream.ts";

export const cancelled = "client cancelled";

/** RFC 9113 §7, by code. */
const codeNames = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** RFC 9113 §7: what the code of a closed stream says. */
export function whyStreamClosed({ closeCode, lost }: Pick<Http2Stream, "closeCode" | "lost">): string {
  if (lost) return lost.fault === undefined ? "client left" : `connection ended: ${lost.fault}`;
  if (closeCode === errorCodes.cancel) return cancelled;
  return closeCode === errorCodes.internal ? "reset" : `stream closed (${codeNames[closeCode] ?? closeCode})`;
}

/** Breaks a stream off, behind what can be sent; `isTooMuch` drops that too, and gRPC reads it as RESOURCE_EXHAUSTED. */
export function resetStream(stream: Http2Stream, isTooMuch: boolean): void {
  if (isTooMuch) stream.reset(errorCodes.enhanceYourCalm);
  else stream.breakOff(errorCodes.internal);
}
