/**
 * Media between the RTSP service, which has the streams, and the WebRTC service, whose clients play and publish them in browsers. Packets are
 * RTP and RTCP as on an interleaved connection (RFC 2326 §10.12): each with four bytes before it, where channel 2 × track is RTP.
 */
import { z } from "zod";
import { operation } from "../operation.ts";
import { provided, providedStream } from "../provided.ts";

/** What browsers take and send: others are left out. */
export const webCodecs = ["h264", "opus", "pcmu", "pcma"] as const;
export type WebCodec = (typeof webCodecs)[number];

export interface WebTrack {
  readonly kind: "video" | "audio";
  readonly codec: WebCodec;
  readonly clockRate: number;
  /** Of video 1. */
  readonly channels: number;
  /** Of H.264, from its parameter set: profile, constraints and level as six hexadecimal digits. Absent before there is one. */
  readonly profileLevelId?: string;
  /** "High, 1280×720", "48 kHz, stereo" */
  readonly format: string;
}

/** A track of the stream that browsers cannot play. */
export interface LeftOutTrack {
  readonly kind: "video" | "audio";
  /** "AAC" */
  readonly codec: string;
  /** Whole sentences: why, and what to do. */
  readonly reason: string;
}

/** As the RTSP service answers its own clients; `challenges` are the values of WWW-Authenticate. */
export interface MediaRefusal {
  readonly kind: "refused";
  readonly status: 401 | 403 | 404 | 503;
  readonly reason: string;
  readonly challenges: readonly string[];
}

export type PlayAnswer =
  | { readonly kind: "accepted"; readonly tracks: readonly WebTrack[]; readonly leftOut: readonly LeftOutTrack[] }
  | MediaRefusal;
export type PublishAnswer = { readonly kind: "accepted" } | MediaRefusal;

export type MediaItem =
  /** The first one, and again when they change. */
  | { readonly type: "tracks"; readonly tracks: readonly WebTrack[] }
  /** One frame, whose packets are the payload. `isKept`: from before the stream was opened, back to the last key frame. */
  | { readonly type: "frame"; readonly track: number; readonly isKey: boolean; readonly isKept: boolean }
  /** The RTP times of each track at a moment, in milliseconds since the epoch. */
  | { readonly type: "clock"; readonly atMs: number; readonly timestamps: readonly number[] }
  /** The last one: why the stream has ended. */
  | { readonly type: "end"; readonly reason: string };

const path = z.string().min(1).max(1_000);
/** Of the HTTP request: who asks. */
const client = {
  authorization: z.string().max(4_096).exactOptional(),
  address: z.string().max(100),
};
/** Characters of the reason for which a publisher was ended. */
export const mostEndedReason = 500;

const publishedTrack = z.strictObject({
  codec: z.enum(webCodecs),
  payloadType: z.int().min(0).max(127),
  clockRate: z.int().min(1),
  channels: z.int().min(1).max(8),
});
export type PublishedTrack = z.output<typeof publishedTrack>;

export const rtspProvided = provided({
  service: "rtsp",
  calls: {
    /** Whether the client may play the path, and what it has for browsers. A pulled stream is fetched. */
    play: operation<PlayAnswer>()(z.strictObject({ path, ...client })),
    /** Takes the path for a publisher, whose packets are then read from the stream `published` of the WebRTC service. */
    publish: operation<PublishAnswer>()(
      z.strictObject({
        path,
        ...client,
        session: z.string().max(100),
        remote: z.string().max(100),
        userAgent: z.string().max(1_000),
        tracks: z.array(publishedTrack).min(1).max(8),
      }),
    ),
    /** A player of the path waits for a key frame: its source is asked for one, where it can be asked. */
    keyFrame: operation<null>()(z.strictObject({ path })),
    /** So many players get what is sent of the path, whenever they are not one. */
    players: operation<null>()(z.strictObject({ path, count: z.int().min(1) })),
  },
  streams: {
    /** The packets of a path, for all players of one service: who may play was asked before. */
    media: providedStream<MediaItem>()(z.strictObject({ path, packetBytes: z.int().min(256).max(1_400) })),
  },
});

export const webrtcProvided = provided({
  service: "webrtc",
  calls: {
    /** Asks the publisher for a key frame. */
    keyFrame: operation<null>()(z.strictObject({ session: z.string().max(100) })),
    /** The RTSP service has ended the publisher. */
    publishEnded: operation<null>()(z.strictObject({ session: z.string().max(100), reason: z.string().max(mostEndedReason) })),
  },
  streams: {
    /** Packets of a publisher. */
    published: providedStream<Record<string, never>>()(z.strictObject({ session: z.string().max(100) })),
  },
});
