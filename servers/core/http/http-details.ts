import type { DetailDecoders } from "../traffic/detail-decoder.ts";

/** Decoders of the kinds of detail that every HTTP service records. */
export const httpDetails: DetailDecoders = {
  http: async () => (await import("./decode-http.ts")).httpDecoder,
  websocket: async () => (await import("./decode-http.ts")).webSocketDecoder,
  "websocket-message": async () => (await import("./decode-http.ts")).webSocketMessageDecoder,
};
