import { isIP } from "node:net";
import { addressBytes } from "../stun/transport-address.ts";

/** A name of multicast DNS, which browsers give out in place of a host's address until the page may use camera or microphone. */
export const isMdnsName = (address: string): boolean => address.toLowerCase().endsWith(".local");

export type AddressScope = "loopback" | "link-local" | "private" | "public" | "mdns" | "unknown";

export function scopeOf(address: string): AddressScope {
  if (isMdnsName(address)) return "mdns";
  const family = isIP(address);
  if (family === 0) return "unknown";
  const bytes = addressBytes(address);
  const [first = 0, second = 0] = bytes;
  if (family === 6) {
    if (bytes.subarray(0, 15).every((byte) => byte === 0) && bytes[15] === 1) return "loopback";
    if (first === 0xfe && (second & 0xc0) === 0x80) return "link-local";
    return (first & 0xfe) === 0xfc ? "private" : "public";
  }
  if (first === 127) return "loopback";
  if (first === 169 && second === 254) return "link-local";
  const isPrivate =
    first === 10 ||
    (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second < 128);
  return isPrivate ? "private" : "public";
}

/** Of "127.0.0.1:53110" or "[::1]:53110". */
export const hostOf = (socket: string): string => socket.slice(0, Math.max(0, socket.lastIndexOf(":"))).replace(/^\[|\]$/g, "");

/** The usual size of a network, in bytes of its prefix. */
const prefixBytes = { 4: 3, 6: 8 } as const;

/** What hosts have in common that usually reach one another without a router that translates: their network, or that they are public. Undefined for a name. */
export function networkOf(address: string): string | undefined {
  const family = isIP(address);
  if (family === 0) return undefined;
  const scope = scopeOf(address);
  if (scope === "public" || scope === "loopback" || scope === "link-local") return `${family} ${scope}`;
  return `${family} ${addressBytes(address).toString("hex", 0, prefixBytes[family as 4 | 6])}`;
}

/** Whether a host at the one address usually reaches the other. */
export function shareNetwork(one: string, other: string): boolean {
  const network = networkOf(one);
  return network !== undefined && network === networkOf(other);
}
