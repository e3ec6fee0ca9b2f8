/** Tracks as the media of a session description: RFC 6184 §8.2, RFC 7798 §7.2, RFC 3640 §4.1, RFC 7587 §6.1, RFC 3551 §6. */

import { attributeOf, attributeOfFormat, parametersOf, type SdpMedia } from "../../core/rtp/sdp.ts";
import { errorText } from "../../core/service/service-error.ts";
import { parseAacConfig } from "../media/aac.ts";
import type { AacTrack, Track } from "../media/track.ts";
import { configOfLatm } from "../rtp/latm-depacketizer.ts";

const firstDynamic = 96;
/** Of parameter sets of a kind. */
const mostSets = 32;

/** Each track has one payload type: the static one of G.711, and else its own. */
export function payloadTypeOf(track: Track, index: number): number {
  if (track.codec === "pcmu" && track.clockRate === 8_000 && track.channels === 1) return 0;
  if (track.codec === "pcma" && track.clockRate === 8_000 && track.channels === 1) return 8;
  return firstDynamic + index;
}

/** Of the session (RFC 2326, C.1.1 and C.1.5): the URI of all tracks, and a stream without an end. */
export const aggregateAttributes: SdpMedia["attributes"] = [
  ["control", "*"],
  ["range", "npt=now-"],
];

export const controlOf = (index: number): string => `trackID=${index}`;

export function describeTrack(track: Track, index: number): SdpMedia {
  const type = payloadTypeOf(track, index);
  const parameters = formatParameters(track);
  return {
    kind: track.kind,
    port: 0,
    protocol: "RTP/AVP",
    formats: [String(type)],
    attributes: [
      ["rtpmap", `${type} ${encodingOf(track)}`],
      ...(parameters === "" ? [] : [["fmtp", `${type} ${parameters}`] as const]),
      ["control", controlOf(index)],
    ],
  };
}

function encodingOf(track: Track): string {
  switch (track.codec) {
    case "h264":
      return `H264/${track.clockRate}`;
    case "h265":
      return `H265/${track.clockRate}`;
    case "aac":
      return `mpeg4-generic/${track.clockRate}/${track.channels}`;
    // RFC 7587 §7: always two channels here, whatever the stream has.
    case "opus":
      return `opus/${track.clockRate}/2`;
    case "pcmu":
    case "pcma":
      return `${track.codec.toUpperCase()}/${track.clockRate}${track.channels === 1 ? "" : `/${track.channels}`}`;
    default:
      return track satisfies never;
  }
}

function formatParameters(track: Track): string {
  const base64 = (units: readonly Buffer[]) => units.map((unit) => unit.toString("base64")).join(",");
  switch (track.codec) {
    case "h264": {
      const [sps] = track.sps;
      const sets = [...track.sps, ...track.pps];
      return [
        "packetization-mode=1",
        ...(sps && sps.length > 3 ? [`profile-level-id=${sps.toString("hex", 1, 4)}`] : []),
        ...(sets.length > 0 ? [`sprop-parameter-sets=${base64(sets)}`] : []),
      ].join(";");
    }
    case "h265":
      return (["vps", "sps", "pps"] as const)
        .flatMap((name) => (track[name].length > 0 ? [`sprop-${name}=${base64(track[name])}`] : []))
        .join(";");
    case "aac":
      return `streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=${track.config.toString("hex")}`;
    case "opus":
      return track.channels > 1 ? "sprop-stereo=1" : "";
    case "pcmu":
    case "pcma":
      return "";
    default:
      return track satisfies never;
  }
}

/** A published track, with what its sender wrote of the format. */
export interface DescribedTrack {
  readonly track: Track;
  readonly payloadType: number;
  /** As in the description: relative to its base, or a whole URI. */
  readonly control: string;
  /** AAC in the payloads of RFC 6416 and not of RFC 3640. */
  readonly isLatm: boolean;
  /** Of the `a=fmtp:` line; names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The text says what the media is: for the answer to a publisher. */
export class UnsupportedMedia extends Error {}

/** Throws UnsupportedMedia for a format that is not one of ours. */
export function trackOfMedia(media: SdpMedia, index: number): DescribedTrack {
  const [format = ""] = media.formats;
  if (!/^RTP\/S?AVPF?(?:\/(?:UDP|TCP))?$/i.test(media.protocol)) throw new UnsupportedMedia(`${media.protocol} is not RTP`);
  if (!/^\d{1,3}$/.test(format) || Number(format) > 127) throw new UnsupportedMedia(`${format} is not a payload type`);
  const map = attributeOfFormat(media, "rtpmap", format) ?? staticFormats[format];
  const [, encoding = "", clockRate = "", channels = "1"] = /^([\w.-]+)\/(\d{1,7})(?:\/(\d{1,2}))?$/.exec(map ?? "") ?? [];
  if (encoding === "") throw new UnsupportedMedia(`payload type ${format} has no valid a=rtpmap`);
  const parameters = parametersOf(attributeOfFormat(media, "fmtp", format));
  const track = trackOfEncoding(encoding.toUpperCase(), Number(clockRate), Number(channels), parameters);
  if (!track || track.kind !== media.kind) throw new UnsupportedMedia(`${media.kind} ${encoding}/${clockRate} is not supported`);
  const isLatm = encoding.toUpperCase() === "MP4A-LATM";
  return { track, payloadType: Number(format), control: attributeOf(media, "control") ?? controlOf(index), isLatm, parameters };
}

const staticFormats: Readonly<Record<string, string>> = { "0": "PCMU/8000", "8": "PCMA/8000" };

function trackOfEncoding(
  encoding: string,
  clockRate: number,
  channels: number,
  parameters: Readonly<Record<string, string>>,
): Track | undefined {
  if (clockRate === 0 || channels === 0) return undefined;
  const units = (name: string) =>
    (parameters[name] ?? "").split(",", mostSets).flatMap((text) => {
      const unit = Buffer.from(text, "base64");
      return unit.length > 0 ? [unit] : [];
    });
  switch (encoding) {
    case "H264": {
      // Mode 2 interleaves NAL units of different pictures.
      if (parameters["packetization-mode"] === "2") return undefined;
      const sets = units("sprop-parameter-sets");
      const ofType = (type: number) => sets.filter((unit) => ((unit[0] as number) & 0x1f) === type);
      return { kind: "video", codec: "h264", clockRate, sps: ofType(7), pps: ofType(8) };
    }
    case "H265":
      if (Number(parameters["sprop-max-don-diff"] ?? 0) > 0) return undefined;
      return { kind: "video", codec: "h265", clockRate, vps: units("sprop-vps"), sps: units("sprop-sps"), pps: units("sprop-pps") };
    case "MPEG4-GENERIC":
      return aacTrack(clockRate, parameters);
    case "MP4A-LATM":
      // With a configuration in each packet, the format is not known beforehand.
      return parameters.cpresent === "0" ? latmTrack(clockRate, parameters) : undefined;
    case "OPUS":
      return { kind: "audio", codec: "opus", clockRate, channels: parameters["sprop-stereo"] === "0" ? 1 : channels };
    case "PCMU":
    case "PCMA":
      return { kind: "audio", codec: encoding === "PCMU" ? "pcmu" : "pcma", clockRate, channels };
    default:
      return undefined;
  }
}

function aacTrack(clockRate: number, parameters: Readonly<Record<string, string>>): AacTrack | undefined {
  const mode = (parameters.mode ?? "AAC-hbr").toLowerCase();
  if (mode !== "aac-hbr" && mode !== "aac-lbr") return undefined;
  return readAacTrack(clockRate, () => Buffer.from(parameters.config ?? "", "hex"));
}

const latmTrack = (clockRate: number, parameters: Readonly<Record<string, string>>): AacTrack =>
  readAacTrack(clockRate, () => configOfLatm(Buffer.from(parameters.config ?? "", "hex")));

function readAacTrack(clockRate: number, readConfig: () => Buffer): AacTrack {
  try {
    const config = readConfig();
    return { kind: "audio", codec: "aac", clockRate, channels: parseAacConfig(config).channels, config };
  } catch (error) {
    throw new UnsupportedMedia(`the config of the audio is not AAC: ${errorText(error)}`);
  }
}
