/** The Transport header field (RFC 2326 §12.39): what a client offers for one track, and what the server chose. */

export type PortPair = readonly [rtp: number, rtcp: number];

export interface TransportOffer {
  /** "RTP/AVP" */
  readonly profile: string;
  readonly lower: "UDP" | "TCP";
  readonly isMulticast: boolean;
  readonly mode: "play" | "record";
  /** Over UDP: where the client receives and sends. */
  readonly clientPorts?: PortPair;
  /** Of an answer: where the server does. */
  readonly serverPorts?: PortPair;
  /** Multicast: the ports of the group. */
  readonly ports?: PortPair;
  readonly channels?: PortPair;
  readonly destination?: string;
  readonly source?: string;
  readonly ttl?: number;
  readonly ssrc?: number;
}

const longestList = 16;

/** The offers in the client's order of preference. Those that cannot be understood are left out. */
export function parseTransport(header: string): readonly TransportOffer[] {
  return splitOutsideQuotes(header, ",")
    .slice(0, longestList)
    .flatMap((text) => {
      const offer = parseOffer(text);
      return offer ? [offer] : [];
    });
}

function parseOffer(text: string): TransportOffer | undefined {
  const [protocol = "", ...parameters] = splitOutsideQuotes(text, ";").map((part) => part.trim());
  const [transport, profile, lower = "UDP", ...more] = protocol.toUpperCase().split("/");
  if (transport !== "RTP" || profile === undefined || more.length > 0 || (lower !== "UDP" && lower !== "TCP")) return undefined;
  const values = new Map(
    parameters
      .filter((parameter) => parameter !== "")
      .map((parameter) => {
        const equals = parameter.indexOf("=");
        const name = equals < 0 ? parameter : parameter.slice(0, equals);
        return [name.trim().toLowerCase(), equals < 0 ? "" : unquoted(parameter.slice(equals + 1).trim())] as const;
      }),
  );
  const mode = (values.get("mode") ?? "play").toLowerCase();
  // "receive" is what older encoders write for "record".
  const isRecord = mode === "record" || mode === "receive";
  if (!isRecord && mode !== "play") return undefined;
  const pair = (name: string, least: number, most: number) => readPair(values.get(name), least, most);
  const clientPorts = pair("client_port", 1, 65_535);
  const serverPorts = pair("server_port", 1, 65_535);
  const ports = pair("port", 1, 65_535);
  const channels = pair("interleaved", 0, 255);
  if ([clientPorts, serverPorts, ports, channels].includes("invalid")) return undefined;
  const ttl = /^\d{1,3}$/.test(values.get("ttl") ?? "") ? Math.min(255, Number(values.get("ttl"))) : undefined;
  const ssrc = /^[0-9a-f]{1,8}$/i.test(values.get("ssrc") ?? "") ? Number.parseInt(values.get("ssrc") as string, 16) : undefined;
  const destination = values.get("destination");
  const source = values.get("source");
  return {
    profile: `RTP/${profile}`,
    lower,
    isMulticast: values.has("multicast"),
    mode: isRecord ? "record" : "play",
    ...(isPair(clientPorts) && { clientPorts }),
    ...(isPair(serverPorts) && { serverPorts }),
    ...(isPair(ports) && { ports }),
    ...(isPair(channels) && { channels }),
    ...(destination && { destination }),
    ...(source && { source }),
    ...(ttl !== undefined && { ttl }),
    ...(ssrc !== undefined && { ssrc }),
  };
}

const isPair = (pair: PortPair | "invalid" | undefined): pair is PortPair => pair !== undefined && pair !== "invalid";

/** "5000-5001"; of a single number the next one is the second. */
function readPair(text: string | undefined, least: number, most: number): PortPair | "invalid" | undefined {
  if (text === undefined) return undefined;
  const [, first, second] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  if (first === undefined) return "invalid";
  const pair = [Number(first), second === undefined ? Number(first) + 1 : Number(second)] as const;
  return pair.every((number) => number >= least && number <= most) && pair[0] !== pair[1] ? pair : "invalid";
}

/** As the value of the field. */
export function writeTransport(offer: TransportOffer): string {
  const { lower, isMulticast, destination, source, channels, ports, clientPorts, serverPorts, ttl, ssrc, mode } = offer;
  const parts = [lower === "TCP" ? `${offer.profile}/TCP` : offer.profile, isMulticast ? "multicast" : "unicast"];
  const pair = (name: string, [rtp, rtcp]: PortPair) => parts.push(`${name}=${rtp}-${rtcp}`);
  if (destination !== undefined) parts.push(`destination=${destination}`);
  if (source !== undefined) parts.push(`source=${source}`);
  if (channels) pair("interleaved", channels);
  if (ports) pair("port", ports);
  if (clientPorts) pair("client_port", clientPorts);
  if (serverPorts) pair("server_port", serverPorts);
  if (ttl !== undefined) parts.push(`ttl=${ttl}`);
  if (ssrc !== undefined) parts.push(`ssrc=${ssrc.toString(16).toUpperCase().padStart(8, "0")}`);
  if (mode === "record") parts.push("mode=record");
  return parts.join(";");
}

function splitOutsideQuotes(text: string, separator: "," | ";"): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const unquoted = (text: string): string => (text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text);
