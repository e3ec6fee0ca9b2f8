import type { RtspPathView, RtspTrackView } from "../../../../../contract/services/rtsp.ts";
import { formatBitRate, formatRate } from "../../../ui/texts/quantity.ts";

const codecNames: Readonly<Record<string, string>> = {
  h264: "H.264",
  h265: "H.265",
  aac: "AAC",
  opus: "Opus",
  pcmu: "G.711 µ-law",
  pcma: "G.711 A-law",
};

export const codecName = (codec: string): string => codecNames[codec] ?? codec;

/** Of what WebCodecs calls it: "avc1.64001e". */
export function decoderName(codec: string): string {
  if (codec.startsWith("avc")) return "H.264";
  if (codec.startsWith("hvc") || codec.startsWith("hev")) return "H.265";
  if (codec.startsWith("mp4a")) return "AAC";
  return codec === "opus" ? "Opus" : codec;
}

/** "H.264 High, 640×360" */
export const trackText = ({ codec, profile, format }: RtspTrackView): string =>
  [[codecName(codec), profile].filter(Boolean).join(" "), format].filter(Boolean).join(", ");

/** "25 fps", "GOP 25", and the like: what is known of the stream at this moment. */
export const rateTexts = ({ bitRate, frameRate, groupFrames }: RtspPathView): readonly string[] => [
  ...(frameRate > 0 ? [`${formatRate(frameRate)} fps`] : []),
  ...(bitRate > 0 ? [formatBitRate(bitRate)] : []),
  ...(groupFrames > 0 ? [`GOP ${groupFrames}`] : []),
];

export const videoOf = ({ tracks }: RtspPathView): RtspTrackView | undefined =>
  tracks.find(({ codec }) => codec === "h264" || codec === "h265");
export const audioOf = ({ tracks }: RtspPathView): RtspTrackView | undefined =>
  tracks.find((track) => track !== videoOf({ tracks } as RtspPathView));
