import { attributeOf, parametersOf, parseSdp, SdpError, type SdpMedia } from "../../../core/rtp/sdp.ts";
import type { Fingerprint } from "../dtls/peer-certificate.ts";

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive";

export interface OfferedCodec {
  readonly payloadType: number;
  /** "H264", in capitals */
  readonly name: string;
  readonly clockRate: number;
  readonly channels: number;
  /** Of its a=fmtp line; names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Of its a=rtcp-fb lines: "nack pli". */
  readonly feedback: readonly string[];
}

export interface OfferedMedia {
  readonly kind: string;
  readonly mid: string;
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly direction: Direction;
  /** The offer itself has rejected it, or has stopped it. */
  readonly isRejected: boolean;
  readonly codecs: readonly OfferedCodec[];
}

export interface Offer {
  readonly media: readonly OfferedMedia[];
  readonly ufrag: string;
  readonly fingerprints: readonly Fingerprint[];
  /** a=setup:passive: it waits for our ClientHello (RFC 8842 §5.3). */
  readonly isDtlsPassive: boolean;
  readonly bundled: readonly string[];
  /** Lines of candidates that came with it, without "a=candidate:". */
  readonly candidates: readonly string[];
}

const mostMedia = 16;
/** There are no more payload types. */
const mostFormats = 128;
const mostCandidates = 100;

/** What WHIP and WHEP need of an offer (RFC 9725 §4.4). Throws an SdpError. */
export function parseOffer(text: string): Offer {
  const description = parseSdp(text);
  if (description.media.length === 0) throw new SdpError("it has no m= line");
  if (description.media.length > mostMedia) throw new SdpError(`it has more than ${mostMedia} m= lines`);
  const parts = [...description.media, description];
  const anywhere = (name: string) => parts.map((part) => attributeOf(part, name)).find((value) => value !== undefined);
  const ufrag = anywhere("ice-ufrag");
  const pwd = anywhere("ice-pwd");
  if (ufrag === undefined || pwd === undefined) throw new SdpError("it has no a=ice-ufrag and a=ice-pwd");
  const fingerprints = parts.flatMap(({ attributes }) =>
    attributes.flatMap(([name, value]) => (name === "fingerprint" ? fingerprint(value) : [])),
  );
  if (fingerprints.length === 0) throw new SdpError("it has no a=fingerprint, which DTLS needs");
  const group = description.attributes.find(([name, value]) => name === "group" && /^BUNDLE\b/.test(value))?.[1];
  const media = description.media.map((part, index) => offeredMedia(part, description, index, description.media.length));
  const bundled = group === undefined ? [] : group.split(/ +/).slice(1);
  const isAlone = media.filter(({ isRejected }) => !isRejected).length === 1;
  return {
    media,
    ufrag,
    fingerprints,
    isDtlsPassive: anywhere("setup") === "passive",
    bundled: isAlone ? media.map(({ mid }) => mid) : bundled,
    candidates: description.media.flatMap(candidatesOf).slice(0, mostCandidates),
  };
}

export const candidatesOf = ({ attributes }: Pick<SdpMedia, "attributes">): string[] =>
  attributes.flatMap(([name, value]) => (name === "candidate" ? [value.slice(0, 300)] : []));

function offeredMedia(media: SdpMedia, session: Pick<SdpMedia, "attributes">, index: number, count: number): OfferedMedia {
  const { kind, port, protocol, formats } = media;
  const isRtp = /^UDP\/TLS\/RTP\/SAVPF$/i.test(protocol);
  if (isRtp && formats.length > mostFormats) throw new SdpError(`an m= line has more than ${mostFormats} payload types`);
  const mid = attributeOf(media, "mid");
  if (mid === undefined && count > 1) throw new SdpError("an m= line has no a=mid");
  const isBundleOnly = attributeOf(media, "bundle-only") !== undefined;
  if (isRtp && attributeOf(media, "rtcp-mux") === undefined && port !== 0) throw new SdpError(`m=${kind.slice(0, 20)} has no a=rtcp-mux`);
  return {
    kind,
    protocol,
    formats,
    mid: mid ?? String(index),
    direction: directions.find((name) => attributeOf(media, name) !== undefined) ?? directionOf(session),
    isRejected: !isRtp || (port === 0 && !isBundleOnly),
    codecs: isRtp ? offeredCodecs(media) : [],
  };
}

const directions: readonly Direction[] = ["sendrecv", "sendonly", "recvonly", "inactive"];
const directionOf = (session: Pick<SdpMedia, "attributes">): Direction =>
  directions.find((name) => attributeOf(session, name) !== undefined) ?? "sendrecv";

/** Of a payload type, and of all. Browsers send five. */
const mostFeedback = 32;
const mostFeedbackLength = 100;
/** That the RTSP service takes. */
const mostChannels = 8;
const staticMaps: Readonly<Record<string, string>> = { "0": "PCMU/8000", "8": "PCMA/8000" };

/** What the attributes say of a payload type: the first of each kind counts. */
interface FormatAttributes {
  rtpmap?: string;
  fmtp?: string;
  readonly feedback: string[];
}

/** A payload type that is named twice is one codec. */
function offeredCodecs(media: SdpMedia): OfferedCodec[] {
  const formats = new Map(media.formats.map((format): [string, FormatAttributes] => [format, { feedback: [] }]));
  const ofAll: string[] = [];
  for (const [name, value] of media.attributes) {
    if (name !== "rtpmap" && name !== "fmtp" && name !== "rtcp-fb") continue;
    const space = value.indexOf(" ");
    const [format, text] = space < 0 ? [value, ""] : [value.slice(0, space), value.slice(space + 1).trim()];
    const known = formats.get(format);
    if (name !== "rtcp-fb") {
      if (known) known[name] ??= text;
      continue;
    }
    const list = format === "*" ? ofAll : known?.feedback;
    if (list && list.length < mostFeedback) list.push(text.slice(0, mostFeedbackLength).split(/ +/).join(" "));
  }
  return [...formats].flatMap(([format, attributes]) => offeredCodec(format, attributes, ofAll));
}

function offeredCodec(format: string, attributes: FormatAttributes, feedbackOfAll: readonly string[]): OfferedCodec[] {
  if (!/^\d{1,3}$/.test(format) || Number(format) > 127) throw new SdpError(`${format.slice(0, 20)} is not a payload type`);
  const map = attributes.rtpmap ?? staticMaps[format] ?? "";
  const [, name, clockRate, channels = "1"] = /^([\w.-]{1,30})\/(\d{1,7})(?:\/(\d{1,2}))?$/.exec(map) ?? [];
  // Without a clock there is no time, and without a channel no sound.
  if (name === undefined || Number(clockRate) === 0 || Number(channels) === 0 || Number(channels) > mostChannels) return [];
  return [
    {
      payloadType: Number(format),
      name: name.toUpperCase(),
      clockRate: Number(clockRate),
      channels: Number(channels),
      parameters: parametersOf(attributes.fmtp),
      feedback: [...attributes.feedback, ...feedbackOfAll],
    },
  ];
}

function fingerprint(value: string): Fingerprint[] {
  const [, algorithm, hash] = /^([\w-]{1,20}) +([\dA-Fa-f]{2}(?::[\dA-Fa-f]{2}){1,63})$/.exec(value) ?? [];
  return algorithm === undefined || hash === undefined ? [] : [{ algorithm, value: hash }];
}

/** Names of the codecs of pictures and sound in an offer, for texts: without those that repair others. */
export const codecNames = ({ codecs }: OfferedMedia): string =>
  [...new Set(codecs.map(({ name }) => name).filter((name) => !/^(?:RTX|RED|ULPFEC|FLEXFEC-03|CN|TELEPHONE-EVENT)$/.test(name)))].join(
    ", ",
  );
