/** Players (WHEP) and publishers (WHIP) of the RTSP service's paths, as the page shows them. */
import { z } from "zod";
import { operation } from "../operation.ts";
import type { WebrtcMediaState } from "../traffic/webrtc-media.ts";
import type { LeftOutTrack } from "./rtsp-media.ts";

/** An open session; its row's detail has the rest. */
export interface WebrtcMediaSessionView {
  /** `TrafficRow.id` */
  readonly row: number;
  readonly protocol: WebrtcMediaState["protocol"];
  readonly path: string;
  readonly state: WebrtcMediaState["state"];
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly remote: string;
  /** Its software: "Chromium", "GStreamer"; empty where it does not say. */
  readonly client: string;
  /** The addresses that are used; absent before the first check of ICE. */
  readonly pair?: WebrtcMediaState["pair"];
  /** "H.264, Opus" */
  readonly codecs: string;
  /** To or from the client per second, of the last second. */
  readonly bitRate: number;
  /** 0 to 1, of its last report; the worst track. Absent before the first report. */
  readonly lossFraction?: number;
  readonly rttMs?: number;
  /** Tracks of the path that the player does not get. */
  readonly leftOut: readonly LeftOutTrack[];
}

export interface WebrtcMediaViews {
  /** The newest ones; the rest is counted. */
  readonly media: { readonly sessions: readonly WebrtcMediaSessionView[]; readonly more: number };
}

export const webrtcMediaActions = {
  /** Ends the session of a row. False where it has ended. */
  "media.end": operation<{ readonly ended: boolean }>()(z.strictObject({ row: z.int().min(0) })),
};
