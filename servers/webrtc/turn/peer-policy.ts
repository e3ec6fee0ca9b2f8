import { isIP } from "node:net";
import { compile } from "proxy-addr";
import { addressBytes, addressText } from "../stun/transport-address.ts";

/** Whether a client may exchange data with this address. */
export type PeerPolicy = (address: string, client: string) => boolean;

/**
 * `allowed` has addresses, networks ("10.0.0.0/8"), and the names loopback, linklocal and uniquelocal; `*` allows every address of one host.
 * An IPv6 address with an IPv4 address inside is checked as that one. Loopback is for clients of this computer only: others would reach
 * what it serves to nobody else. Where the server is not open to the LAN there are no others, whatever address they send from: a browser
 * that may use the camera sends from each address of its computer. Addresses that are `always` allowed change while it runs. Throws for anything else (`isPeerEntry`).
 */
export function createPeerPolicy(
  allowed: readonly string[],
  openToLan = true,
  always: (address: string) => boolean = () => false,
): PeerPolicy {
  const isListed = allowed.includes("*") ? () => true : compile([...allowed]);
  return (address, client) => {
    const canonical = canonicalAddress(address);
    if (openToLan && isLoopback(canonical) && !isLoopback(canonicalAddress(client))) return false;
    return isOneHost(canonical) && (isListed(canonical, 0) || always(canonical));
  };
}

export const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.");

/** An entry of `allowed`. */
export function isPeerEntry(text: string): boolean {
  try {
    return text === "*" || Boolean(compile([text]));
  } catch {
    return false;
  }
}

/** IPv4 inside of IPv6: where the prefix has this many bytes, the IPv4 address begins there. */
const embeddings: readonly { readonly prefix: Buffer; readonly at: number }[] = [
  // RFC 4291 §2.5.5.2: mapped; §2.5.5.1: compatible
  { prefix: addressBytes("::ffff:0:0").subarray(0, 12), at: 12 },
  { prefix: Buffer.alloc(12), at: 12 },
  // RFC 2765 §2.1: translated
  { prefix: addressBytes("::ffff:0:0:0").subarray(0, 12), at: 12 },
  // RFC 6052 §2.1 and RFC 8215: NAT64
  { prefix: addressBytes("64:ff9b::").subarray(0, 12), at: 12 },
  { prefix: addressBytes("64:ff9b:1::").subarray(0, 6), at: 12 },
  // RFC 3056 §2: 6to4
  { prefix: addressBytes("2002::").subarray(0, 2), at: 2 },
];

/** The IPv4 address inside of an IPv6 address that leads to it; any other address as it is. */
export function canonicalAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const bytes = addressBytes(address);
  // ::1 and :: look like compatible addresses.
  if (bytes.subarray(0, 15).every((byte) => byte === 0) && (bytes[15] as number) < 2) return addressText(bytes);
  const found = embeddings.find(({ prefix }) => bytes.subarray(0, prefix.length).equals(prefix));
  return addressText(found ? bytes.subarray(found.at, found.at + 4) : bytes);
}

/** Neither unspecified, multicast, broadcast nor reserved. The system sends what goes to 0.0.0.0 and :: to itself. */
function isOneHost(address: string): boolean {
  const bytes = addressBytes(address);
  const first = bytes[0] as number;
  if (bytes.length === 4) return first > 0 && first < 224;
  return first !== 0xff && bytes.some((byte) => byte !== 0);
}
