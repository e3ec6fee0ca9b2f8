import { attributeOf, attributeOfFormat, parametersOf, parseSdp, SdpError, type SdpMedia } from "../../../core/rtp/sdp.ts";
import type { Fingerprint } from "../dtls/dtls-server.ts";

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
  if (anywhere("setup") === "passive") throw new SdpError("a=setup:passive leaves DTLS to the server; actpass or active is needed");
  const group = description.attributes.find(([name, value]) => name === "group" && /^BUNDLE\b/.test(value))?.[1];
  const media = description.media.map((part, index) => offeredMedia(part, description, index, description.media.length));
  const bundled = group === undefined ? [] : group.split(/ +/).slice(1);
  const isAlone = media.filter(({ isRejected }) => !isRejected).length === 1;
  return {
    media,
    ufrag,
    fingerprints,
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
    codecs: isRtp ? formats.flatMap((format) => offeredCodec(media, format)) : [],
  };
}

const directions: readonly Direction[] = ["sendrecv", "sendonly", "recvonly", "inactive"];
const directionOf = (session: Pick<SdpMedia, "attributes">): Direction =>
  directions.find((name) => attributeOf(session, name) !== undefined) ?? "sendrecv";

const mostFeedbackLength = 100;
const staticMaps: Readonly<Record<string, string>> = { "0": "PCMU/8000", "8": "PCMA/8000" };

function offeredCodec(media: SdpMedia, format: string): OfferedCodec[] {
  if (!/^\d{1,3}$/.test(format) || Number(format) > 127) throw new SdpError(`${format.slice(0, 20)} is not a payload type`);
  const map = attributeOfFormat(media, "rtpmap", format) ?? staticMaps[format] ?? "";
  const [, name, clockRate, channels = "1"] = /^([\w.-]{1,30})\/(\d{1,7})(?:\/(\d{1,2}))?$/.exec(map) ?? [];
  if (name === undefined) return [];
  const feedback = media.attributes.flatMap(([key, value]) => {
    const isMeant = key === "rtcp-fb" && (value.startsWith(`${format} `) || value.startsWith("* "));
    return isMeant ? [value.slice(0, mostFeedbackLength).split(/ +/).slice(1).join(" ")] : [];
  });
  return [
    {
      payloadType: Number(format),
      name: name.toUpperCase(),
      clockRate: Number(clockRate),
      channels: Number(channels),
      parameters: parametersOf(attributeOfFormat(media, "fmtp", format)),
      feedback,
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
