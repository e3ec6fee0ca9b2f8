/** The WebSocket of HTTP's Try tab: an ordinary client, which the service holds. */
import { z } from "zod";
import { operation } from "../operation.ts";

/** There is one at a time. */
interface TriedSocket {
  /** Milliseconds since the epoch at which it was opened. */
  readonly at: number;
  /** Path and query. */
  readonly target: string;
  /** Messages since it was opened, kept or not. */
  readonly sent: number;
  readonly received: number;
  /** `TrafficRow.id` of the same WebSocket seen from the service's side. */
  readonly row?: number;
}

/** The answer to the handshake. */
interface OpenedSocket extends TriedSocket {
  /** Subprotocol chosen by the service; empty without one. */
  readonly protocol: string;
  /** From the request to the 101. */
  readonly openedMs: number;
}

export type WebSocketTried =
  | { readonly state: "untried" }
  | (TriedSocket & { readonly state: "connecting" })
  | (OpenedSocket & { readonly state: "open" | "closing" })
  /** RFC 6455 §7.4.1: 1005 is a close frame without a code, 1006 no close frame at all. */
  | (TriedSocket & { readonly state: "closed"; readonly code: number; readonly reason: string; readonly tookMs: number })
  /** Answered, but not with 101. */
  | (TriedSocket & { readonly state: "refused"; readonly status: number; readonly reason: string })
  | (TriedSocket & { readonly state: "failed"; readonly problem: string });

export interface WebSocketTryMessage {
  /** Counts up from 1. */
  readonly place: number;
  readonly direction: "sent" | "received";
  readonly type: "text" | "binary";
  /** Milliseconds since it was opened. */
  readonly atMs: number;
  readonly bytes: number;
  /** Shorter than `bytes` if it was cut. */
  readonly base64: string;
}

/** RFC 6455 §5.5: a control frame carries 125 bytes, of which two are the code. */
const closeReasonBytes = 123;
const utf8Bytes = (character: string): number => {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
};
export const fitsCloseReason = (reason: string): boolean =>
  Array.from(reason).reduce((bytes, character) => bytes + utf8Bytes(character), 0) <= closeReasonBytes;
/** RFC 6455 §7.4: the codes that an endpoint may send. */
export const maySendCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || (code >= 3000 && code <= 4999);

export const webSocketTryActions = {
  /** Opens it; the one before is ended. Resolves when it is open, refused or failed, which the view `socket` shows. */
  "socket.open": operation<null>()(
    z.strictObject({
      target: z.string().startsWith("/").max(8_192),
      headers: z
        .array(z.tuple([z.string().max(256), z.string().max(8_192)]))
        .max(100)
        .default([]),
      /** Subprotocols to offer. */
      protocols: z
        .array(
          z
            .string()
            .max(256)
            .regex(/^[\w!#$%&'*+.^`|~-]+$/, "A subprotocol is one word."),
        )
        .max(20)
        .default([]),
    }),
  ),
  /** `content` is text, or base64 if it is binary. */
  "socket.send": operation<null>()(
    z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text"), content: z.string().max(1 << 20) }),
      z.strictObject({ type: z.literal("binary"), content: z.base64().max(1 << 21) }),
    ]),
  ),
  /** Begins the closing handshake; `cut` ends the connection without a close frame. */
  "socket.close": operation<null>()(
    z.strictObject({
      cut: z.boolean().default(false),
      /** Without a code the close frame is empty. */
      code: z.int().refine(maySendCloseCode, "This code may not be sent: 1000 to 1014 without 1004 to 1006, or 3000 to 4999.").optional(),
      reason: z.string().refine(fitsCloseReason, "A reason has at most 123 bytes.").default(""),
    }),
  ),
  /** The newest ones, newest first. */
  "socket.messages": operation<{ readonly messages: readonly WebSocketTryMessage[] }>()(
    z.strictObject({ limit: z.int().min(1).max(500).default(200) }),
  ),
};
