import { isIP } from "node:net";
import { compile } from "proxy-addr";
import { errorText, ServiceError } from "../service/service-error.ts";

export interface TrustedProxies {
  /** Number of proxies in front of the service, each of which adds one address to X-Forwarded-For. */
  readonly hops: number;
  /** Addresses and networks ("10.0.0.0/8") whose X-Forwarded-For is trusted. */
  readonly addresses: readonly string[];
}

/** More proxies in a row than there are: a head may have thousands of addresses, each of which is compared with those that are trusted. */
const mostHops = 64;

/**
 * The address of the client behind the trusted proxies; without any, X-Forwarded-For is ignored,
 * since every client can write it. Throws CONFIG_INVALID for an entry that is neither an address nor a network.
 */
export function createClientAddress(proxies: TrustedProxies): (remote: string | undefined, forwardedFor: string | undefined) => string {
  const trusted = proxies.addresses.length === 0 ? undefined : createTrust(proxies.addresses);
  const { hops } = proxies;
  return (remote, forwardedFor) => {
    let client = plainAddress(remote ?? "");
    if (forwardedFor === undefined || (hops === 0 && !trusted)) return client;
    const entries = forwardedFor.split(",");
    for (let hop = 0; entries.length > 0 && hop < mostHops; hop++) {
      if (hop >= hops && !trusted?.(client)) break;
      const before = addressInField(entries.pop() ?? "");
      // An invalid address was not written by a trusted proxy.
      if (before === undefined) break;
      client = before;
    }
    return client;
  };
}

function createTrust(addresses: readonly string[]): (address: string) => boolean {
  try {
    const isListed = compile([...addresses]);
    return (address) => isListed(address, 0);
  } catch (cause) {
    const hint = "Write 10.0.0.7, 10.0.0.0/8, loopback, linklocal or uniquelocal.";
    throw new ServiceError("CONFIG_INVALID", `Trusted proxies: ${errorText(cause)}`, hint, { cause });
  }
}

/** "1.2.3.4", "1.2.3.4:80", "::1", "[::1]:80" */
function addressInField(field: string): string | undefined {
  const text = field.trim();
  const host = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text);
  return isIP(host) === 0 ? undefined : plainAddress(host);
}

/** Without a zone, and an IPv4 address that came over an IPv6 socket as IPv4, however it is written (RFC 4291 §2.5.5.2). */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const zone = address.indexOf("%");
  const plain = zone === -1 ? address : address.slice(0, zone);
  return /:0{0,4}ffff:/i.test(plain) ? (mappedAddress(plain) ?? plain) : plain;
}

function mappedAddress(address: string): string | undefined {
  // The URL standard has one way to write an address.
  const [, high, low] = /^\[::ffff:([\da-f]+):([\da-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

/**
 * What counts as one client: an IPv4 address, or a /64, which is one IPv6 customer's network. 127.0.0.0/8 is 127.0.0.1: a program on this
 * computer may use each of them.
 */
export function rateLimitKey(socketAddress: string): string {
  const address = socketAddress.includes(":") ? plainAddress(socketAddress) : socketAddress;
  if (!address.includes(":")) return address.startsWith("127.") ? "127.0.0.1" : address;
  const [left = "", right] = address.split("::");
  const groups = left === "" ? [] : left.split(":");
  if (right !== undefined) {
    const after = right === "" ? [] : right.split(":");
    // An embedded IPv4 address takes the place of two groups.
    const missing = 8 - groups.length - after.length - (address.includes(".") ? 1 : 0);
    for (let count = 0; count < missing; count++) groups.push("0");
    groups.push(...after);
  }
  const network = groups.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64`;
}
