/** RTSP: a session is a row, its requests and answers are its parts. What comes before the first SETUP belongs to the session after it. */
import type { ConnectionHead } from "./connection.ts";
import type { PartHead, PartsSummary } from "./parts.ts";

export const rtspRoles = ["none", "read", "publish"] as const;
export type RtspRole = (typeof rtspRoles)[number];

/** One track that was set up. Counts are of the session; `lost` and `jitterMs` of the receiver's last report, or ours to a publisher. */
export interface RtspSessionTrack {
  readonly index: number;
  /** "h264", "aac" */
  readonly codec: string;
  /** "TCP, channels 0-1", "UDP, ports 5000-5001" */
  readonly transport: string;
  readonly packets: number;
  readonly bytes: number;
  /** Frames that a slow reader did not get. */
  readonly dropped: number;
  /** Absent where nothing was reported, or where it is not known: then there is a `lossFraction`. */
  readonly lost?: number;
  /** Of the packets since the report before, 0 to 1. */
  readonly lossFraction?: number;
  readonly jitterMs?: number;
}

/** Times are milliseconds since it began. */
export interface RtspSession {
  readonly kind: "rtsp";
  readonly id: number;
  readonly at: number;
  /** Identifier of the Session header; absent where there was no SETUP. */
  readonly session?: string;
  readonly role: RtspRole;
  readonly path: string;
  readonly user?: string;
  readonly userAgent: string;
  readonly tracks: readonly RtspSessionTrack[];
  /** When the first PLAY or RECORD was answered. */
  readonly startedMs?: number;
  /** Why it ended; absent while it is open. */
  readonly ended?: string;
  readonly totalMs?: number;
  /** `isTunnel`: requests and packets pass through HTTP. */
  readonly connection: ConnectionHead & { readonly isTunnel?: true };
  readonly parts: PartsSummary;
}

/** A request or an answer as it crossed the wire. */
export interface RtspMessagePart extends PartHead {
  readonly kind: "rtsp-message";
  /** As seen by the service. */
  readonly direction: "received" | "sent";
  readonly bytes: number;
  /** Head and body, cut where it is longer than the recorder's limit. */
  readonly base64: string;
}
