/** Session descriptions (RFC 4566), as far as RTSP (RFC 2326 appendix C) and WebRTC (RFC 8829) use them. */

export interface SdpMedia {
  /** "video", "audio", "application" */
  readonly kind: string;
  readonly port: number;
  /** "RTP/AVP" */
  readonly protocol: string;
  readonly formats: readonly string[];
  /** Name and value, in their order; without a value it is empty. */
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

export interface SessionDescription {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly media: readonly SdpMedia[];
}

/** The reason says what is wrong in words. */
export class SdpError extends Error {}

const mostLines = 2_000;

/** Throws an SdpError. Unknown lines are passed over, as RFC 4566 §5 asks. */
export function parseSdp(text: string): SessionDescription {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== "");
  if (lines.length > mostLines) throw new SdpError(`it has more than ${mostLines} lines`);
  if (!/^v=0\s*$/.test(lines[0] ?? "")) throw new SdpError("it does not begin with v=0");
  let name = "";
  const attributes: [string, string][] = [];
  const media: (SdpMedia & { attributes: [string, string][] })[] = [];
  for (const line of lines.slice(1)) {
    const [, type, value = ""] = /^([a-zA-Z])=(.*)$/.exec(line) ?? [];
    if (type === undefined) throw new SdpError("a line is not a letter, = and a value");
    if (type === "m") media.push(parseMedia(value));
    else if (type === "a") (media.at(-1)?.attributes ?? attributes).push(attribute(value));
    else if (type === "s" && media.length === 0) name = value.trim();
  }
  return { name, attributes, media };
}

function parseMedia(value: string): SdpMedia & { attributes: [string, string][] } {
  const [, kind, port, protocol, formats] = /^(\S+) (\d{1,5})(?:\/\d+)? (\S+) (\S.*)$/.exec(value) ?? [];
  if (kind === undefined || formats === undefined) throw new SdpError("an m= line is not media, port, protocol and formats");
  return { kind, port: Number(port), protocol: protocol as string, formats: formats.trim().split(/ +/), attributes: [] };
}

function attribute(value: string): [string, string] {
  const colon = value.indexOf(":");
  return colon < 0 ? [value.trim(), ""] : [value.slice(0, colon).trim(), value.slice(colon + 1).trim()];
}

export const attributeOf = (part: Pick<SdpMedia, "attributes">, name: string): string | undefined =>
  part.attributes.find(([key]) => key === name)?.[1];

/** The value of an `a=rtpmap:` or `a=fmtp:` line of a payload type. */
export const attributeOfFormat = (part: Pick<SdpMedia, "attributes">, name: string, format: string): string | undefined =>
  part.attributes
    .find(([key, value]) => key === name && value.split(/\s/, 1)[0] === format)?.[1]
    .slice(format.length)
    .trim();

/** A format has a dozen. */
const mostParameters = 64;

/** "a=1; b=two": names in lower case. Only the first ones are read. */
export const parametersOf = (text: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (text ?? "").split(";", mostParameters).flatMap((part) => {
      const equals = part.indexOf("=");
      return equals < 0 ? [] : [[part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim()] as const];
    }),
  );

export interface WrittenDescription {
  /** Of the origin line: changes with the description. */
  readonly id: number;
  readonly version: number;
  readonly host: string;
  readonly name: string;
  /** Of the session. */
  readonly attributes: SdpMedia["attributes"];
  readonly media: readonly SdpMedia[];
}

export function writeSdp({ id, version, host, name, attributes, media }: WrittenDescription): string {
  const family = host.includes(":") ? "IP6" : "IP4";
  const lines = [
    "v=0",
    `o=- ${id} ${version} IN ${family} ${host}`,
    `s=${name}`,
    `c=IN ${family} ${family === "IP6" ? "::" : "0.0.0.0"}`,
    "t=0 0",
    ...attributes.map(writeAttribute),
  ];
  for (const { kind, port, protocol, formats, attributes: ofMedia } of media)
    lines.push(`m=${kind} ${port} ${protocol} ${formats.join(" ")}`, ...ofMedia.map(writeAttribute));
  return `${lines.join("\r\n")}\r\n`;
}

const writeAttribute = ([key, value]: readonly [string, string]): string => (value === "" ? `a=${key}` : `a=${key}:${value}`);
