import { randomInt } from "node:crypto";
import type { WebTrack } from "../../../../contract/services/rtsp-media.ts";
import { type SdpMedia, writeSdp } from "../../../core/rtp/sdp.ts";
import type { IceCredentials } from "../transport/peer-transport.ts";
import type { Direction, Offer, OfferedCodec, OfferedMedia } from "./offer.ts";

/** What becomes of an m= line of the offer; undefined: it is rejected. */
export type AnsweredMedia =
  | {
      readonly codec: OfferedCodec;
      readonly direction: Extract<Direction, "sendonly" | "recvonly" | "inactive">;
      /** Of the a=fmtp line. */
      readonly parameters: string;
      /** Of the packets that we send. */
      readonly ssrc?: number;
    }
  | undefined;

export interface AnswerOptions {
  readonly offer: Offer;
  readonly media: readonly AnsweredMedia[];
  readonly credentials: IceCredentials;
  /** SHA-256. */
  readonly fingerprint: string;
  readonly candidates: readonly string[];
  /** Names the stream, so that its sound and pictures stay together. */
  readonly streamId: string;
}

/** Feedback that is answered, where it was offered. */
const usedFeedback: ReadonlySet<string> = new Set(["nack", "nack pli", "ccm fir", "goog-remb"]);

export function writeAnswer({ offer, media, credentials, fingerprint, candidates, streamId }: AnswerOptions): string {
  const accepted = offer.media.filter((_, index) => media[index]);
  const [first] = accepted;
  const describe = (offered: OfferedMedia, answered: AnsweredMedia): SdpMedia => {
    const { kind, protocol, formats, mid } = offered;
    if (!answered)
      return {
        kind,
        port: 0,
        protocol,
        formats: formats.slice(0, 1),
        attributes: [
          ["mid", mid],
          ["inactive", ""],
        ],
      };
    const { codec, direction, parameters, ssrc } = answered;
    const type = codec.payloadType;
    const channels = codec.channels > 1 ? `/${codec.channels}` : "";
    return {
      kind,
      port: 9,
      protocol,
      formats: [String(type)],
      attributes: [
        ["mid", mid],
        [direction, ""],
        ["ice-ufrag", credentials.ufrag],
        ["ice-pwd", credentials.pwd],
        ["fingerprint", `sha-256 ${fingerprint}`],
        ["setup", offer.isDtlsPassive ? "active" : "passive"],
        ["rtcp-mux", ""],
        ["rtcp-rsize", ""],
        ["rtpmap", `${type} ${codec.name}/${codec.clockRate}${channels}`],
        ...(parameters === "" ? [] : [["fmtp", `${type} ${parameters}`] as const]),
        ...codec.feedback.filter((name) => usedFeedback.has(name)).map((name) => ["rtcp-fb", `${type} ${name}`] as const),
        ...(ssrc === undefined
          ? []
          : ([
              ["msid", `${streamId} ${kind}`],
              ["ssrc", `${ssrc} cname:${streamId}`],
              ["ssrc", `${ssrc} msid:${streamId} ${kind}`],
            ] as const)),
        ...(offered === first ? [...candidates.map((line) => ["candidate", line] as const), ["end-of-candidates", ""] as const] : []),
      ],
    };
  };
  return writeSdp({
    id: randomInt(2 ** 40),
    version: 1,
    host: "127.0.0.1",
    name: "-",
    attributes: [
      ["group", `BUNDLE ${accepted.map(({ mid }) => mid).join(" ")}`],
      ["ice-lite", ""],
      ["msid-semantic", "WMS *"],
    ],
    media: offer.media.map((offered, index) => describe(offered, media[index])),
  });
}

/** RFC 8445 §5.1.2.1: hosts, the first one preferred. */
export const hostCandidates = (addresses: readonly string[], port: number): string[] =>
  addresses.map((address, index) => `${index + 1} 1 udp ${(126 << 24) + ((65_535 - index) << 8) + 255} ${address} ${port} typ host`);

/**
 * The offered codec that a track is sent as; undefined where there is none. H.264 is sent as it is: browsers decode what its parameter sets say, so
 * another profile of the offer will do where its own is not among them.
 */
export function codecForTrack(offered: OfferedMedia, track: WebTrack): OfferedCodec | undefined {
  switch (track.codec) {
    case "h264": {
      const all = offered.codecs.filter(isPacketizedH264);
      const wanted = track.profileLevelId ?? "42e01f";
      const profile = profileOf(wanted);
      return (
        all.find(({ parameters }) => profileOf(parameters["profile-level-id"] ?? "") === profile) ??
        all.find(({ parameters }) => (parameters["profile-level-id"] ?? "").slice(0, 2).toLowerCase() === wanted.slice(0, 2)) ??
        all.find(({ parameters }) => profileOf(parameters["profile-level-id"] ?? "") === "constrained baseline") ??
        all[0]
      );
    }
    case "opus":
      return offered.codecs.find(({ name, clockRate }) => name === "OPUS" && clockRate === 48_000);
    case "pcmu":
    case "pcma":
      return offered.codecs.find(({ name, clockRate }) => name === track.codec.toUpperCase() && clockRate === 8_000);
    default:
      return track.codec satisfies never;
  }
}

/** RFC 6184 §8.1: packets of fragments and of several units need mode 1. */
const isPacketizedH264 = ({ name, parameters }: OfferedCodec): boolean => name === "H264" && parameters["packetization-mode"] === "1";

/** RFC 6184 §8.1, table 5, as far as browsers go. */
function profileOf(profileLevelId: string): string {
  const idc = Number.parseInt(profileLevelId.slice(0, 2), 16);
  const constraints = Number.parseInt(profileLevelId.slice(2, 4), 16);
  if ((idc === 66 && constraints & 0x40) || (idc === 77 && constraints & 0x80) || (idc === 88 && (constraints & 0xc0) === 0xc0))
    return "constrained baseline";
  if (idc === 66) return "baseline";
  if (idc === 77) return "main";
  if (idc === 100) return (constraints & 0x0c) === 0x0c ? "constrained high" : "high";
  return `${idc}`;
}

/** What a publisher has to send: H.264 in its own order, since players of RTSP take every profile. */
export function codecToPublish(offered: OfferedMedia): OfferedCodec | undefined {
  const { kind, codecs } = offered;
  if (kind === "video") return codecs.find(isPacketizedH264) ?? codecs.find(({ name }) => name === "H264");
  return (
    codecs.find(({ name, clockRate }) => name === "OPUS" && clockRate === 48_000) ??
    codecs.find(({ name, clockRate }) => (name === "PCMU" || name === "PCMA") && clockRate === 8_000)
  );
}

const startKbps = 2_500;
/** 5.2 */
const highestLevel = "34";

/** `isSent` by us, or by the client. */
export function parametersFor({ name, parameters, channels }: OfferedCodec, isSent: boolean): string {
  if (name === "OPUS") return `minptime=10;useinbandfec=1${channels > 1 ? ";stereo=1;sprop-stereo=1" : ""}`;
  if (name !== "H264") return "";
  const profile = parameters["profile-level-id"] ?? "42e01f";
  const isAsymmetric = parameters["level-asymmetry-allowed"] === "1";
  return [
    ...(isAsymmetric ? ["level-asymmetry-allowed=1"] : []),
    `packetization-mode=${parameters["packetization-mode"] ?? "0"}`,
    `profile-level-id=${!isSent && isAsymmetric ? `${profile.slice(0, 4)}${highestLevel}` : profile}`,
    // Chromium begins with 300 kbit/s, and takes long to find that there is room for more.
    ...(isSent ? [] : [`x-google-start-bitrate=${startKbps}`]),
  ].join(";");
}
