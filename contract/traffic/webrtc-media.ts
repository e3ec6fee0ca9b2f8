/** A player (WHEP) or a publisher (WHIP) of a path of the RTSP service: a row, from its offer to its end. */
import type { LeftOutTrack } from "../services/rtsp-media.ts";

export type WebrtcMediaProtocol = "whep" | "whip";

/** Counts are of the session. */
export interface WebrtcMediaTrack {
  readonly kind: "video" | "audio";
  /** "H.264", "Opus" */
  readonly codec: string;
  /** "High, 1280×720"; empty where only the client knows. */
  readonly format: string;
  readonly packets: number;
  readonly bytes: number;
  readonly lost: number;
  /** 0 to 1, since the report before; absent before the first report. */
  readonly lossFraction?: number;
  readonly jitterMs?: number;
  /** Packets that were sent again, or came after they were asked for. */
  readonly retransmitted: number;
}

export interface WebrtcMediaState {
  readonly protocol: WebrtcMediaProtocol;
  readonly path: string;
  /** "waiting": no check of ICE has come yet. */
  readonly state: "waiting" | "handshake" | "connected" | "ended";
  readonly remote: string;
  readonly userAgent: string;
  readonly tracks: readonly WebrtcMediaTrack[];
  /** Tracks of the path that the client does not get, each with the reason. */
  readonly leftOut: readonly LeftOutTrack[];
  /** The addresses that are used; absent before the first check of ICE. */
  readonly pair?: { readonly local: string; readonly remote: string };
  /** Those that the client has told: "udp 192.0.2.1:5000 host". */
  readonly candidates: readonly string[];
  /** Checks of ICE with right credentials. */
  readonly checks: number;
  readonly rttMs?: number;
  /** By the player, or to the publisher. */
  readonly keyFrameRequests: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Why it ended; absent while it is open. */
  readonly ended?: string;
}

/** The row's verb is "play" or "publish", its target the path. */
export interface WebrtcMedia extends WebrtcMediaState {
  readonly kind: "webrtc-media";
  readonly id: number;
  readonly at: number;
  readonly totalMs?: number;
}
