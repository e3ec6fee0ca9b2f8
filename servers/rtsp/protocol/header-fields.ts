/** The other header fields with a grammar of their own: Session, Range and RTP-Info (RFC 2326 §12.37, §12.29, §12.33), and URIs of paths. */
import { percentDecoded } from "../../../contract/percent-decoded.ts";

/** Undefined where it is not a session identifier (§3.4). */
export const sessionIdOf = (header: string): string | undefined => /^[\w$.+-]{1,128}(?=\s*(?:;|$))/.exec(header.trim())?.[0];

export const writeSession = (id: string, timeoutSeconds: number): string => `${id};timeout=${timeoutSeconds}`;

/** Seconds that the server allows between two requests (§12.37); 60 where it does not say. */
export function sessionTimeoutOf(header: string): number {
  const seconds = Number(/;\s*timeout\s*=\s*(\d{1,6})/i.exec(header)?.[1] ?? 60);
  return seconds > 0 ? seconds : 60;
}

export type RangeUnit = "npt" | "clock" | "smpte";

const times: Readonly<Record<RangeUnit, RegExp>> = {
  npt: /^(?:now|\d+(?:\.\d*)?|\d+:[0-5]?\d:[0-5]?\d(?:\.\d*)?)$/i,
  clock: /^\d{8}T\d{6}(?:\.\d+)?Z$/i,
  smpte: /^\d{1,2}:\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d{1,2})?)?$/,
};
const units: ReadonlyMap<string, RangeUnit> = new Map([
  ["npt", "npt"],
  ["clock", "clock"],
  ["smpte", "smpte"],
  ["smpte-30-drop", "smpte"],
  ["smpte-25", "smpte"],
]);

/** The unit of a valid range. A live stream has no positions, so no more is needed. */
export function rangeUnitOf(header: string): RangeUnit | undefined {
  const [range = ""] = header.split(";", 1);
  const equals = range.indexOf("=");
  const dash = range.indexOf("-", equals);
  if (equals < 0 || dash < 0) return undefined;
  const unit = units.get(range.slice(0, equals).trim().toLowerCase());
  const ends = [range.slice(equals + 1, dash).trim(), range.slice(dash + 1).trim()].filter((time) => time !== "");
  return unit && ends.length > 0 && ends.every((time) => times[unit].test(time)) ? unit : undefined;
}

export interface RtpInfo {
  readonly url: string;
  readonly sequence: number;
  readonly timestamp: number;
}

export const writeRtpInfo = (infos: readonly RtpInfo[]): string =>
  infos.map(({ url, sequence, timestamp }) => `url=${url};seq=${sequence};rtptime=${timestamp}`).join(",");

/** What an RTSP URI names. */
export interface RtspTarget {
  /** Without slashes at its ends: "stream", "site/camera". */
  readonly path: string;
  /** Of a URI that ends in a track's control: "stream/trackID=1". */
  readonly track?: number;
  /** Scheme, host and path without a query, and without the track: clients append "/trackID=1" to it. */
  readonly base: string;
}

const control = /\/trackID=(\d{1,3})\/?$/;
const uri = /^(rtsps?|rtspu|rtsph):\/\/([^/?#\s]+)((?:\/[^?#\s]*)?)(?:\?[^#\s]*)?(?:#\S*)?$/i;

/** Undefined where it is not the URI of a path: "*", another scheme, a path that cannot be decoded or leads upwards. */
export function parseTarget(text: string): RtspTarget | undefined {
  // Some clients append the control to a URI with a query.
  const track = control.exec(text)?.[1];
  const [, scheme, authority = "", rawPath = ""] = uri.exec(track === undefined ? text : text.replace(control, "")) ?? [];
  if (scheme === undefined) return undefined;
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const path = decodedPath(rawPath);
  if (path === undefined) return undefined;
  const base = `${scheme.toLowerCase()}://${host}${withoutEndSlashes(rawPath)}`;
  return { path, base, ...(track !== undefined && { track: Number(track) }) };
}

/** By hand, as blanks of header fields are: `/\/+$/` is tried at each slash. */
export function withoutEndSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}

/** Without slashes at both ends. */
export function withoutSlashes(text: string): string {
  let start = 0;
  while (text[start] === "/") start++;
  return withoutEndSlashes(text.slice(start));
}

const longestPath = 500;

/** A stream's name from the path of a URI; undefined where it cannot be one. */
export function decodedPath(rawPath: string): string | undefined {
  const decoded = percentDecoded(rawPath);
  if (decoded === undefined) return undefined;
  const path = withoutSlashes(decoded);
  return isPathName(path) ? path : undefined;
}

/** One or several segments of printable characters, none of them "." or "..". */
export const isPathName = (path: string): boolean =>
  path.length > 0 &&
  path.length <= longestPath &&
  path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..") &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not printable
  !/[\0-\x1f\x7f\\]/.test(path);
