/** Actions and views of the RTSP service. */
import { z } from "zod";
import { binaryTopic } from "../binary.ts";
import type { History } from "../history.ts";
import { operation } from "../operation.ts";
import { type SampleViews, sampleActions } from "../sample-traffic.ts";
import type { RtspRole } from "../traffic/rtsp.ts";
import { type RtspFaultViews, rtspFaultActions } from "./rtsp-faults.ts";

export interface RtspTrackView {
  /** "h264" */
  readonly codec: string;
  /** "High"; empty where the stream does not say. */
  readonly profile: string;
  /** "640×360", "48 kHz, stereo" */
  readonly format: string;
}

/** A stream that can be played now, or that would be fetched. */
export interface RtspPathView {
  readonly name: string;
  /** Where it comes from: a looped file, a publisher, another server. */
  readonly source: { readonly kind: "clip" | "publisher" | "rtmp-publisher" | "whip-publisher" | "pull"; readonly title: string };
  readonly ready: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly tracks: readonly RtspTrackView[];
  /** Without the pictures of dashboards. */
  readonly readers: number;
  /** From the source, and to all readers. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Per second, of the last second. */
  readonly bitRate: number;
  readonly frameRate: number;
  /** Pictures from one key frame to the next; 0 before the second one. */
  readonly groupFrames: number;
  readonly groupSeconds: number;
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
  /** Media per second, to a player or from a publisher, of the last second. */
  readonly bitRate: number;
  /** 0 to 1, of its last report, or of ours to a publisher; the worst track. Absent before the first report. */
  readonly lossFraction?: number;
  readonly jitterMs?: number;
  /** What a client over TCP has not taken yet. */
  readonly unsentBytes: number;
}

export type RtspSessionHistory = History<"bitRate" | "lossPercent" | "jitterMs">;
export type RtspPathHistory = History<"bitRate" | "frameRate">;

/** An access unit as ITU-T H.264 annex B has it; a key item begins with the parameter sets. */
export interface RtspPictureHeader {
  /** Rises, also over restarts: the frames since the last key frame come again when another page begins to look. */
  readonly n: number;
  readonly timeUs: number;
  /** When the stream had it, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** Of a key item: "avc1.64001e". */
  readonly codec?: string;
  /** Of a key item, in pixels, where its parameter sets say it. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** One frame of audio. */
export interface RtspSoundHeader {
  readonly timeUs: number;
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  /** Base64: the AudioSpecificConfig of AAC. */
  readonly description?: string;
}

/** The streams for the page; a source is the name of a path. */
export const rtspBinary = {
  /** A group of pictures of several seconds comes at once. */
  picture: binaryTopic<RtspPictureHeader>()({ windowBytes: 16 << 20, windowItems: 600, resume: "key" }),
  sound: binaryTopic<RtspSoundHeader>()({ windowBytes: 1 << 20, windowItems: 100, resume: "any" }),
};
export type RtspBinary = typeof rtspBinary;

export const rtspTransports = ["tcp", "udp", "multicast", "http", "tls"] as const;
/** How a player gets its packets; "http" is RTSP in a tunnel, "tls" is RTSPS. */
export type RtspTransport = (typeof rtspTransports)[number];

/** One line of the ladder of Try. */
export interface RtspTryStep {
  /** Since the start. */
  readonly atMs: number;
  readonly direction: "sent" | "received";
  /** "DESCRIBE rtsp://… RTSP/1.0", "first packet of track 0" */
  readonly title: string;
  /** A request or an answer as it crossed the wire, without credentials, in base64. */
  readonly message?: { readonly base64: string; readonly bytes: number };
}

export interface RtspTriedTrack {
  readonly codec: string;
  readonly transport: string;
  readonly packets: number;
  readonly bytes: number;
  readonly lost: number;
  readonly jitterMs: number;
}

/** The player of Try: what it does or did last. */
export type RtspTried =
  | { readonly state: "untried" }
  | {
      readonly state: "connecting" | "playing" | "ended";
      readonly path: string;
      readonly transport: RtspTransport;
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly steps: readonly RtspTryStep[];
      /** More steps than are kept. */
      readonly moreSteps: number;
      readonly tracks: readonly RtspTriedTrack[];
      /** Since the start. */
      readonly firstPacketMs?: number;
      readonly firstPictureMs?: number;
      readonly pictures: number;
      readonly tookMs?: number;
      /** Why it could not play, or ended; absent where it was stopped. */
      readonly failure?: string;
      /** Of the answer that refused it. */
      readonly status?: number;
    };

/** What the service is configured for. */
export interface RtspOffers {
  readonly udp: boolean;
  /** Where ordinary players can get its packets. */
  readonly multicast: boolean;
  /** RTSPS. */
  readonly tls: boolean;
  /** It has users: some or all paths need one. */
  readonly login: boolean;
}

/** An MP4 file that was dropped on the page. */
export interface RtspFileView {
  readonly path: string;
  /** Where it came from. */
  readonly name: string;
  readonly bytes: number;
  /** Why it is not played. */
  readonly problem?: string;
}

/** `view/rtsp`, by name. */
export interface RtspViews extends SampleViews, RtspFaultViews {
  readonly offers: RtspOffers;
  readonly try: RtspTried;
  readonly paths: { readonly paths: readonly RtspPathView[]; readonly more: number };
  /** The newest ones. */
  readonly sessions: { readonly sessions: readonly RtspSessionView[]; readonly more: number };
  /** In the order in which they came. */
  readonly files: { readonly files: readonly RtspFileView[] };
}

const path = z.string().min(1).max(500);
const upload = z.int().min(1);
const row = z.strictObject({ row: z.int().min(0) });

export const rtspActions = {
  /** Ends the session of a row. False where it has ended. */
  "session.kick": operation<{ readonly kicked: boolean }>()(row),
  /** Null where it has neither played nor published, or ended long ago. */
  "session.history": operation<RtspSessionHistory | null>()(row),
  /** Null where there is no such path. */
  "path.history": operation<RtspPathHistory | null>()(z.strictObject({ path: z.string().max(1_000) })),
  /** Begins an upload of a file of this size, which is sent in pieces. */
  "file.begin": operation<{ readonly upload: number }>()(z.strictObject({ name: z.string().min(1).max(500), bytes: z.int().min(0) })),
  "file.put": operation<null>()(z.strictObject({ upload, base64: z.string() })),
  /** Opens the file and plays it on a path of its own, which is named after it. */
  "file.end": operation<{ readonly path: string }>()(z.strictObject({ upload })),
  "file.cancel": operation<null>()(z.strictObject({ upload })),
  "file.remove": operation<null>()(z.strictObject({ path })),
  "file.rename": operation<null>()(z.strictObject({ path, to: path })),
  ...rtspFaultActions,
  /** Plays a path with a client of our own; the one before is ended. The view `try` shows it. */
  "try.play": operation<null>()(
    z.strictObject({
      path: z.string().min(1).max(1_000),
      transport: z.enum(rtspTransports),
      username: z.string().max(200).exactOptional(),
      password: z.string().max(1_000).exactOptional(),
    }),
  ),
  "try.stop": operation<null>()(z.strictObject({})),
  ...sampleActions,
};
export type RtspActions = typeof rtspActions;
