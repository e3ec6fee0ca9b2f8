import type { RtspTrackView } from "../../../contract/services/rtsp.ts";
import { h264ProfileName } from "../media/h264.ts";
import { h265ProfileName, parseH265Sps } from "../media/h265.ts";
import { pictureOf } from "../media/parameter-sets.ts";
import type { Track, VideoTrack } from "../media/track.ts";

export function describeTrack(track: Track): RtspTrackView {
  switch (track.codec) {
    case "h264":
    case "h265":
      return { codec: track.codec, ...describePicture(track) };
    case "aac":
    case "opus":
    case "pcmu":
    case "pcma":
      return {
        codec: track.codec,
        profile: "",
        format: `${track.clockRate / 1_000} kHz, ${channelsText(track.channels)}`,
      };
    default:
      return track satisfies never;
  }
}

function channelsText(channels: number): string {
  if (channels === 1) return "mono";
  return channels === 2 ? "stereo" : `${channels} channels`;
}

/** Empty texts before the parameter sets. */
function describePicture(track: VideoTrack): Omit<RtspTrackView, "codec"> {
  const [sps] = track.sps;
  const picture = pictureOf(track);
  if (!sps || !picture) return { profile: "", format: "" };
  const profile = track.codec === "h264" ? h264ProfileName(sps) : h265ProfileName(parseH265Sps(sps).profile);
  return { profile, format: `${picture.width}×${picture.height}` };
}
