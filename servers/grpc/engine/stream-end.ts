import { constants, type Http2Session, type Http2Stream, type ServerHttp2Stream } from "node:http2";

export const cancelled = "client cancelled";

/**
 * RFC 9113 §7: what the code of a closed stream says. Node closes the streams of a lost connection with the one of a cancellation.
 * A stream that is closed has no session: it has to be kept from before.
 */
export function whyStreamClosed({ rstCode }: Http2Stream, session: Http2Session | undefined): string {
  if (session?.destroyed !== false) return "client left";
  if (rstCode === constants.NGHTTP2_CANCEL) return cancelled;
  return rstCode === constants.NGHTTP2_INTERNAL_ERROR ? "reset" : `stream closed (${rstCode})`;
}

/** Breaks a stream off. gRPC reads `isTooMuch` as RESOURCE_EXHAUSTED. */
export function resetStream(stream: ServerHttp2Stream, isTooMuch: boolean): void {
  stream.close(isTooMuch ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_INTERNAL_ERROR);
  // Node does not close a stream with unread bytes.
  stream.resume();
}

/** For a stream of a lost connection, as Node does it for all of them at once. */
export function closeLost(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.close(constants.NGHTTP2_CANCEL);
  stream.destroy();
}
