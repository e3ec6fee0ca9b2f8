/** Server-sent events (WHATWG HTML §9.2): the stream is an HTTP exchange, each event a part of it. */
import type { PartHead } from "./detail.ts";

export interface SseEventPart extends PartHead {
  readonly kind: "sse-event";
  /** Of the whole block on the wire. */
  readonly bytes: number;
  /** The block as it was sent, its lines and the empty line; cut where it is longer than what is kept. */
  readonly text: string;
}
