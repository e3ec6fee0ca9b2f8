/** Actions and views of the RTSP service. */
import { z } from "zod";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { RtspRole } from "../traffic/rtsp.ts";

export interface RtspTrackView {
  /** "h264" */
  readonly codec: string;
  /** "640×360", "48 kHz, stereo" */
  readonly format: string;
}

/** A stream that can be played now, or that would be fetched. */
export interface RtspPathView {
  readonly name: string;
  /** Where it comes from: a looped file, a publisher, another server. */
  readonly source: { readonly kind: "clip" | "publisher" | "pull"; readonly title: string };
  readonly ready: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly tracks: readonly RtspTrackView[];
  readonly readers: number;
  /** From the source, and to all readers. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Per second, of the last second. */
  readonly bitRate: number;
  readonly frameRate: number;
}

/** An open session. */
export interface RtspSessionView {
  readonly session: string;
  /** `TrafficRow.id` */
  readonly row: number;
  readonly path: string;
  readonly role: RtspRole;
  readonly state: "ready" | "playing" | "recording";
  readonly transport: string;
}

/** `view/rtsp`, by name. */
export interface RtspViews extends SampleViews {
  readonly paths: { readonly paths: readonly RtspPathView[]; readonly more: number };
  /** The newest ones. */
  readonly sessions: { readonly sessions: readonly RtspSessionView[]; readonly more: number };
}

export const rtspActions = {
  /** Ends the session of a row. False where it has ended. */
  "session.kick": operation<{ readonly kicked: boolean }>()(z.strictObject({ row: z.int().min(0) })),
  ...sampleActions,
};
export type RtspActions = typeof rtspActions;
