import type { DetailDecoders } from "../traffic/detail-decoder.ts";

/** Of every service that speaks HTTP. */
export const httpDetails: DetailDecoders = {
  http: async () => (await import("./decode-http.ts")).httpDecoder,
  websocket: async () => (await import("./decode-http.ts")).webSocketDecoder,
  "websocket-message": async () => (await import("./decode-http.ts")).webSocketMessageDecoder,
};
