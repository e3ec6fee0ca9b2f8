/** Server-sent events (WHATWG HTML §9.2): the stream is an HTTP exchange, each event a part of it. */
import type { PartHead } from "./detail.ts";

export interface SseEventPart extends PartHead {
  readonly kind: "sse-event";
  /** Bytes of the whole block on the wire. */
  readonly bytes: number;
  /** The block as it was sent, with the empty line that ends it; cut where it is longer than the limit. */
  readonly text: string;
}
