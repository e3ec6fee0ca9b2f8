/** The frames between a dashboard and the supervisor, the same over Electron IPC and over a WebSocket. */
import { z } from "zod";
import { maxSourceLength } from "./binary.ts";
import type { Topic } from "./control.ts";
import { type Failure, serviceIds } from "./service.ts";

/** Largest frame that a dashboard may send, in bytes: a message of 4 MiB in base64 and more. */
export const maxFrameBytes = 8 << 20;
/** Most values that it may have, such as entries of lists, which take far more memory than their bytes. */
export const maxFrameValues = 350_000;
/** A dashboard's WebSocket asks for this subprotocol, and for a second one that carries the token of its link. */
export const controlProtocol = "backlot";
export const tokenProtocol = (token: string): string => `backlot.token.${token}`;
/** Closes a WebSocket whose token is missing or wrong. RFC 6455 §7.4.2: from 4000 on codes are the application's. */
export const linkExpiredCode = 4401;
/** Begins the fragment of the dashboard's link. A browser sends no fragment to any server. */
export const linkFragment = "#token=";
/** Batches of one topic that may be in flight unacknowledged. */
export const batchWindow = 2;

/** Parsed on arrival: frames of a dashboard are not trusted. */
export const upFrame = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("call"), id: z.int().nonnegative(), name: z.string().max(100), params: z.unknown() }),
  z.strictObject({ type: z.literal("subscribe"), topic: z.string().max(100) }),
  z.strictObject({ type: z.literal("unsubscribe"), topic: z.string().max(100) }),
  /** All batches of the topic up to `seq` are painted. */
  z.strictObject({ type: z.literal("ack"), topic: z.string().max(100), seq: z.int().nonnegative() }),
  /** `subscription` is the dashboard's own number for it. */
  z.strictObject({
    type: z.literal("binarySubscribe"),
    subscription: z.int().nonnegative(),
    service: z.enum(serviceIds),
    topic: z.string().max(100),
    source: z.string().max(maxSourceLength),
  }),
  z.strictObject({ type: z.literal("binaryUnsubscribe"), subscription: z.int().nonnegative() }),
  /** All items of the subscription up to `seq` were consumed. */
  z.strictObject({ type: z.literal("binaryAck"), subscription: z.int().nonnegative(), seq: z.int().nonnegative() }),
]);
export type UpFrame = z.output<typeof upFrame>;

export type DownFrame =
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly failure: Failure }
  | {
      readonly type: "batch";
      readonly topic: Topic;
      readonly seq: number;
      readonly items: readonly unknown[];
      /** Items since the last batch that are not in this one. */
      readonly dropped: number;
    }
  | BinaryFrame
  /** Dropped items that no later item has counted yet. */
  | { readonly type: "binaryDropped"; readonly subscription: number; readonly dropped: number }
  /** The subscription failed: no items will follow. */
  | { readonly type: "binaryRefused"; readonly subscription: number; readonly failure: Failure };

/**
 * Never text: over Electron IPC it goes as it is, over a WebSocket as a binary message of the length of its fields (4 bytes,
 * big-endian), the fields without the payload as JSON, and the payload.
 */
export interface BinaryFrame {
  readonly type: "binary";
  readonly subscription: number;
  readonly seq: number;
  /** Items dropped since the last one. */
  readonly dropped: number;
  readonly isKey: boolean;
  readonly header: unknown;
  readonly payload: Uint8Array;
}

/** One end of a connection that carries whole frames in order. */
export interface Port<Out, In> {
  post(frame: Out): void;
  onFrame(listener: (frame: In) => void): void;
  onClose(listener: () => void): void;
}
