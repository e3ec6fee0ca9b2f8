/** Session descriptions and candidates of WebRTC (RFC 8866, RFC 8839), as far as the page and the ICE check read them. */

export type CandidateType = "host" | "srflx" | "prflx" | "relay";

export interface IceCandidate {
  readonly foundation: string;
  readonly component: number;
  readonly transport: "udp" | "tcp";
  readonly priority: number;
  /** An IP address, or a name of mDNS: "9b1e….local". */
  readonly address: string;
  readonly port: number;
  readonly type: CandidateType;
  /** Of a candidate that is not of a host: what it was made from. */
  readonly related?: { readonly address: string; readonly port: number };
  /** "active", "passive", "so" */
  readonly tcpType?: string;
  /** The identification of its media section, where the signal names it. */
  readonly mid?: string;
}

export interface MediaCodec {
  readonly payloadType: string;
  /** "VP8/90000", "opus/48000/2" */
  readonly name: string;
  /** Of `a=fmtp`. */
  readonly parameters?: string;
}

export type MediaDirection = "sendrecv" | "sendonly" | "recvonly" | "inactive";

export interface MediaSection {
  /** Its place, from 0. */
  readonly index: number;
  /** "audio", "video", "application" */
  readonly kind: string;
  readonly mid: string;
  /** 0 where it was rejected. */
  readonly port: number;
  /** "UDP/TLS/RTP/SAVPF" */
  readonly protocol: string;
  /** Absent for data, which has none. */
  readonly direction?: MediaDirection;
  readonly codecs: readonly MediaCodec[];
  readonly candidates: readonly IceCandidate[];
  readonly attributes: readonly DescriptionAttribute[];
}

export interface DescriptionAttribute {
  readonly name: string;
  /** Empty without one. */
  readonly value: string;
}

export interface SessionDescription {
  /** Of `o=`: the second number counts changes. */
  readonly origin: string;
  readonly groups: readonly string[];
  readonly attributes: readonly DescriptionAttribute[];
  readonly media: readonly MediaSection[];
  /** More lines, sections, candidates or codecs than are read. */
  readonly isCut: boolean;
}

/** What one end says of itself, in a section or above all of them. */
export interface TransportFacts {
  readonly ufrag: string;
  readonly fingerprints: readonly string[];
  /** "actpass", "active", "passive" */
  readonly setup: string;
}

const mostLines = 4_000;
const mostSections = 500;
const mostCandidates = 500;
/** RFC 3550 §5.1: payload types have seven bits. */
const mostFormats = 128;
const directions: ReadonlySet<string> = new Set<MediaDirection>(["sendrecv", "sendonly", "recvonly", "inactive"]);
const candidateTypes: ReadonlySet<string> = new Set<CandidateType>(["host", "srflx", "prflx", "relay"]);

/** Of "candidate:…", with or without "a=" before it. Undefined for what is none, also for the empty one that ends them. */
export function readCandidate(text: string, mid?: string): IceCandidate | undefined {
  const [, foundation, component, transport, priority, address, port, type, rest = ""] =
    /^(?:a=)?candidate:(\S{1,64}) (\d{1,5}) (\S{1,8}) (\d{1,10}) (\S{1,255}) (\d{1,5}) typ (\w{1,8})(.*)$/s.exec(text.trim()) ?? [];
  const protocol = transport?.toLowerCase();
  if (foundation === undefined || address === undefined || type === undefined || !candidateTypes.has(type)) return undefined;
  if (protocol !== "udp" && protocol !== "tcp") return undefined;
  const relatedAddress = / raddr (\S+)/.exec(rest)?.[1];
  const tcpType = / tcptype (\S+)/.exec(rest)?.[1];
  return {
    foundation,
    component: Number(component),
    transport: protocol,
    priority: Number(priority),
    address,
    port: Number(port),
    type: type as CandidateType,
    ...(relatedAddress !== undefined && { related: { address: relatedAddress, port: Number(/ rport (\d{1,5})/.exec(rest)?.[1] ?? 0) } }),
    ...(tcpType !== undefined && { tcpType }),
    ...(mid !== undefined && { mid }),
  };
}

interface OpenSection {
  readonly kind: string;
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly attributes: DescriptionAttribute[];
  candidates: number;
}

/** Undefined for what does not begin with `v=0`. Lines of other forms are passed over, as RFC 8866 §5 asks. */
export function readDescription(sdp: string): SessionDescription | undefined {
  const lines = sdp.split(/\r\n|\r|\n/, mostLines + 1);
  if (lines[0]?.trim() !== "v=0") return undefined;
  let origin = "";
  let isCut = lines.length > mostLines;
  const attributes: DescriptionAttribute[] = [];
  const sections: OpenSection[] = [];
  for (const line of lines.slice(1, mostLines)) {
    const [, type, value = ""] = /^([a-z])=(.*)$/.exec(line) ?? [];
    if (type === "o") origin = value;
    else if (type === "m") {
      const [, kind, port, protocol, formats = ""] = /^(\S+) (\d{1,5})(?:\/\d+)? (\S+)(?: (.*))?$/s.exec(value) ?? [];
      if (kind === undefined || protocol === undefined) continue;
      if (sections.length === mostSections) {
        isCut = true;
        break;
      }
      const listed = formats.trim().split(/\s+/, mostFormats + 1);
      isCut ||= listed.length > mostFormats;
      sections.push({
        kind,
        port: Number(port),
        protocol,
        formats: [...new Set(listed.slice(0, mostFormats))],
        attributes: [],
        candidates: 0,
      });
    } else if (type === "a") {
      const section = sections.at(-1);
      const attribute = attributeFrom(value);
      (section?.attributes ?? attributes).push(attribute);
      if (section && attribute.name === "candidate") isCut ||= ++section.candidates > mostCandidates;
    }
  }
  // RFC 8866 §6.7: without a direction in the section that of the session counts, and without that it is sendrecv.
  const direction = directionIn(attributes) ?? "sendrecv";
  return {
    origin,
    groups: attributes.filter(({ name }) => name === "group").map(({ value }) => value),
    attributes,
    media: sections.map((section, index) => mediaFrom(section, index, direction)),
    isCut,
  };
}

function attributeFrom(value: string): DescriptionAttribute {
  const colon = value.indexOf(":");
  return colon < 0 ? { name: value.trim(), value: "" } : { name: value.slice(0, colon).trim(), value: value.slice(colon + 1).trim() };
}

const directionIn = (attributes: readonly DescriptionAttribute[]): MediaDirection | undefined =>
  attributes.find(({ name }) => directions.has(name))?.name as MediaDirection | undefined;

function mediaFrom(section: OpenSection, index: number, ofSession: MediaDirection): MediaSection {
  const { kind, port, protocol, formats, attributes } = section;
  const mid = attributeValue(attributes, "mid") ?? String(index);
  const isRtp = protocol.includes("RTP");
  return {
    index,
    kind,
    mid,
    port,
    protocol,
    attributes,
    ...(isRtp && { direction: directionIn(attributes) ?? ofSession }),
    codecs: isRtp ? codecsFrom(formats, attributes) : [],
    candidates: attributes
      .filter(({ name }) => name === "candidate")
      .slice(0, mostCandidates)
      .flatMap(({ value }) => readCandidate(`candidate:${value}`, mid) ?? []),
  };
}

function codecsFrom(formats: readonly string[], attributes: readonly DescriptionAttribute[]): readonly MediaCodec[] {
  const names = ofPayloadTypes(attributes, "rtpmap");
  const parameters = ofPayloadTypes(attributes, "fmtp");
  return formats.map((payloadType) => {
    const own = parameters.get(payloadType);
    return { payloadType, name: names.get(payloadType) ?? "", ...(own !== undefined && { parameters: own }) };
  });
}

/** The first attribute of this name of each payload type. */
function ofPayloadTypes(attributes: readonly DescriptionAttribute[], wanted: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { name, value } of attributes) {
    const space = name === wanted ? value.indexOf(" ") : -1;
    if (space > 0 && !found.has(value.slice(0, space))) found.set(value.slice(0, space), value.slice(space + 1));
  }
  return found;
}

const attributeValue = (attributes: readonly DescriptionAttribute[], name: string): string | undefined =>
  attributes.find((attribute) => attribute.name === name)?.value;

/** Of a section; what it does not say itself the session says (RFC 8839 §5.4, RFC 8122 §5). */
export function transportOf(description: SessionDescription, section: MediaSection | undefined): TransportFacts {
  const all = [...(section?.attributes ?? []), ...description.attributes];
  return {
    ufrag: attributeValue(all, "ice-ufrag") ?? "",
    fingerprints: [...new Set(all.filter(({ name }) => name === "fingerprint").map(({ value }) => value))],
    setup: attributeValue(all, "setup") ?? "",
  };
}

/** The candidates of all sections; those of a bundle are in its first one. */
export const candidatesOf = ({ media }: SessionDescription): readonly IceCandidate[] => media.flatMap(({ candidates }) => candidates);

/** Whether gathering was complete when it was made (RFC 8840 §4.1). */
export const endsCandidates = ({ attributes, media }: SessionDescription): boolean =>
  [attributes, ...media.map((section) => section.attributes)].some((all) => attributeValue(all, "end-of-candidates") !== undefined);

/** What a message of any dialect carries for WebRTC. */
export interface CarriedSignal {
  readonly sdp?: string;
  /** Empty for the end of candidates. */
  readonly candidate?: string;
  readonly mid?: string;
}

const deepestSignal = 8;

/**
 * Finds description and candidate in a message, wherever its dialect puts them: `{sdp}`, `{payload: {sdp: {type, sdp}}}`, `42["signal", {…}]`.
 * Empty for what is no JSON, or has neither.
 */
export function readCarriedSignal(message: string): CarriedSignal {
  // Socket.IO writes the kind of its packet, and maybe a namespace, before the JSON.
  const start = message.search(/[[{]/);
  if (start < 0) return {};
  try {
    return findSignal(JSON.parse(message.slice(start)), 0) ?? {};
  } catch {
    return {};
  }
}

function findSignal(value: unknown, depth: number): CarriedSignal | undefined {
  if (typeof value !== "object" || value === null || depth > deepestSignal) return undefined;
  const { sdp, candidate, sdpMid } = value as Readonly<Record<string, unknown>>;
  if (typeof sdp === "string" && sdp.startsWith("v=0")) return { sdp };
  if (typeof candidate === "string" && (candidate === "" || readCandidate(candidate)))
    return { candidate, ...(typeof sdpMid === "string" && { mid: sdpMid }) };
  for (const inner of Object.values(value)) {
    const found = findSignal(inner, depth + 1);
    if (found) return found;
  }
  // The end of candidates, where the message has no other.
  return candidate === null ? { candidate: "" } : undefined;
}
