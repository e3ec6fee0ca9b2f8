import type { LeftOutTrack, WebCodec, WebTrack } from "../../../contract/services/rtsp-media.ts";
import { pictureOf } from "../media/parameter-sets.ts";
import type { H264Track, Track } from "../media/track.ts";
import { describeTrack } from "../observe/track-view.ts";
import type { PathSource } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";

/** A track for browsers: its place in the stream that has it. */
export interface WebTrackPlace {
  readonly stream: Stream;
  readonly index: number;
}

export interface WebTracks {
  readonly places: readonly WebTrackPlace[];
  readonly leftOut: readonly LeftOutTrack[];
}

/** The tracks that browsers can play: one of pictures and one of sound. The sound of the path itself is taken before that beside it. */
export function webTracksOf(stream: Stream, webSound: PathSource["webSound"]): WebTracks {
  const places = [stream, ...(webSound ? [webSound] : [])].flatMap((one) => one.tracks.map((_, index) => ({ stream: one, index })));
  const first = (kind: Track["kind"]) => places.find((place) => trackAt(place).kind === kind && isForBrowsers(trackAt(place)));
  const [video, audio] = [first("video"), first("audio")];
  return {
    places: [video, audio].filter((place) => place !== undefined),
    leftOut: stream.tracks.filter(({ kind }) => !(kind === "video" ? video : audio)).map(leftOut),
  };
}

export const trackAt = ({ stream, index }: WebTrackPlace): Track => stream.tracks[index] as Track;

/** G.711 has one rate in WebRTC (RFC 7874 §3). */
function isForBrowsers(track: Track): track is Exclude<Track, { readonly codec: "aac" | "h265" }> {
  if (track.codec === "pcmu" || track.codec === "pcma") return track.clockRate === 8_000 && track.channels === 1;
  return track.codec === "h264" || track.codec === "opus";
}

function leftOut(track: Track): LeftOutTrack {
  const { kind, codec } = track;
  const name = names[codec];
  const reason =
    kind === "video"
      ? `The pictures are ${name}, which is not sent to browsers. Publish H.264.`
      : codec === "aac"
        ? "The sound is AAC, which WebRTC does not have, and it is not converted. Publish the stream with Opus to hear it in a browser."
        : `The sound is ${name} with ${track.clockRate} Hz, which WebRTC does not have. Publish Opus.`;
  return { kind, codec: name, reason };
}

const names: Readonly<Record<Track["codec"], string>> = {
  h264: "H.264",
  h265: "H.265",
  aac: "AAC",
  opus: "Opus",
  pcmu: "G.711 µ-law",
  pcma: "G.711 A-law",
};

export function describeWebTrack(track: Track): WebTrack {
  const { profile, format } = describeTrack(track);
  return {
    kind: track.kind,
    codec: track.codec as WebCodec,
    clockRate: track.clockRate,
    channels: track.kind === "audio" ? track.channels : 1,
    ...(track.codec === "h264" && profileOf(track)),
    format: [profile, format].filter((text) => text !== "").join(", "),
  };
}

function profileOf(track: H264Track): Pick<WebTrack, "profileLevelId"> {
  const [sps] = track.sps;
  return sps && pictureOf(track) ? { profileLevelId: sps.toString("hex", 1, 4) } : {};
}
