/** Actions and views of the HTTP service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { HeaderList, HttpBody } from "../traffic/http.ts";
import { type WebSocketTried, webSocketTryActions } from "./websocket-try.ts";

export interface SseSubscriber {
  readonly id: number;
  readonly peer: string;
  readonly client: string;
  readonly openedAt: number;
  /** Set when it disconnected; it stays listed for another minute. */
  readonly closedAt?: number;
  readonly closedBy?: "client" | "server" | "done";
  readonly sent: number;
  /** Events left out because the client read too slowly. */
  readonly skipped: number;
  readonly lastEvent: string;
  /** The `Last-Event-ID` of its reconnect, its first characters. */
  readonly resumedFrom?: string;
}

/** `view/http`, by name. */
export interface HttpViews extends SampleViews {
  readonly sse: {
    /** Of those that are connected the newest, and some of those that left. */
    readonly subscribers: readonly SseSubscriber[];
    /** All that are connected. */
    readonly open: number;
    readonly eventsSent: number;
  };
  /** The WebSocket of the Try tab. */
  readonly socket: WebSocketTried;
}

export const tryMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

export interface TryAnswer {
  readonly status: number;
  readonly reason: string;
  readonly httpVersion: string;
  readonly headers: HeaderList;
  readonly body: HttpBody;
  readonly tookMs: number;
  /** The answer was longer than the limit, or did not end in time, and was cut. */
  readonly truncated: boolean;
  /** `TrafficRow.id` of the same exchange seen from the server's side. */
  readonly row?: number;
}

export const httpActions = {
  /** Sends an event to every subscriber of /api/stream; the result is how many there were. */
  "sse.send": operation<{ readonly subscribers: number }>()(
    z.strictObject({
      event: z
        .string()
        .max(200)
        .regex(/^[^\r\n]*$/, "An event name is one line.")
        .default("message"),
      data: z.string().max(65_536),
      id: z
        .string()
        .max(200)
        .regex(/^[^\r\n\0]*$/, "An event id is one line.")
        .optional(),
    }),
  ),
  "sse.disconnect": operation<{ readonly disconnected: boolean }>()(z.strictObject({ subscriber: z.int() })),
  /** A real request to the service's own port. */
  try: operation<TryAnswer>()(
    z.strictObject({
      method: z.enum(tryMethods),
      /** Path and query. */
      target: z.string().startsWith("/").max(8_192),
      headers: z
        .array(z.tuple([z.string().max(256), z.string().max(8_192)]))
        .max(100)
        .default([]),
      body: z.string().max(1_048_576).default(""),
      /** In place of the text: bytes, in base64. */
      base64: z
        .base64()
        .max(8 << 20)
        .optional(),
    }),
  ),
  /** Sends a recorded request again, to the service's own port. */
  resend: operation<TryAnswer>()(
    z.strictObject({
      /** To the HTTPS port. */
      tls: z.boolean().default(false),
      method: z
        .string()
        .max(40)
        .regex(/^[\w!#$%&'*+.^`|~-]+$/, "A method is one word."),
      /** As it was in the request line. */
      target: z.string().min(1).max(65_536),
      headers: z
        .array(z.tuple([z.string().max(1_024), z.string().max(65_536)]))
        .max(1_000)
        .default([]),
      /** Base64. */
      body: z
        .base64()
        .max(8 << 20)
        .default(""),
    }),
  ),
  ...webSocketTryActions,
  ...sampleActions,
};
export type HttpActions = typeof httpActions;
