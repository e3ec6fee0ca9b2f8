import { isIPv4, isIPv6 } from "node:net";
import { magicCookie } from "./stun-message.ts";

export type AddressFamily = "IPv4" | "IPv6";

export interface TransportAddress {
  readonly family: AddressFamily;
  /** As the system writes it: shortened, in lower case, without a zone. */
  readonly address: string;
  readonly port: number;
}

/** RFC 8489 §14.1, also of REQUESTED-ADDRESS-FAMILY. */
export const familyNumbers: Readonly<Record<AddressFamily, number>> = { IPv4: 1, IPv6: 2 };
export const familyOf = (address: string): AddressFamily => (address.includes(":") ? "IPv6" : "IPv4");

/** The value of MAPPED-ADDRESS. */
export function encodeAddress(address: string, port: number): Buffer {
  const bytes = addressBytes(address);
  const value = Buffer.alloc(4 + bytes.length);
  value[1] = bytes.length === 4 ? 1 : 2;
  value.writeUInt16BE(port, 2);
  bytes.copy(value, 4);
  return value;
}

/** The value of an XOR-…-ADDRESS; `transaction` begins with the magic cookie. */
export const encodeXorAddress = (address: string, port: number, transaction: Buffer): Buffer =>
  applyXor(encodeAddress(address, port), transaction);

/** Undefined for a wrong length or an unknown family. */
export function decodeXorAddress(value: Buffer, transaction: Buffer): TransportAddress | undefined {
  const isIpv4 = value.length === 8 && value[1] === 1;
  if (!isIpv4 && !(value.length === 20 && value[1] === 2)) return undefined;
  const plain = applyXor(Buffer.from(value), transaction);
  return { family: isIpv4 ? "IPv4" : "IPv6", address: addressText(plain.subarray(4)), port: plain.readUInt16BE(2) };
}

/** RFC 8489 §14.2: the port with the cookie's first half, the address with cookie and transaction id. */
function applyXor(value: Buffer, transaction: Buffer): Buffer {
  value.writeUInt16BE(value.readUInt16BE(2) ^ (magicCookie >>> 16), 2);
  for (let at = 4; at < value.length; at++) value[at] = (value[at] as number) ^ (transaction[at - 4] as number);
  return value;
}

/** 4 or 16 bytes of an address as text; a zone is left out. */
export function addressBytes(text: string): Buffer {
  if (isIPv4(text)) return Buffer.from(text.split(".").map(Number));
  const address = withoutZone(text);
  if (!isIPv6(address)) throw new RangeError(`"${text}" is not an IP address`);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const [high = 0, low = 0] = dotted ? groupsOf(addressBytes(dotted[2] as string)) : [];
  const plain = dotted ? `${dotted[1]}${high.toString(16)}:${low.toString(16)}` : address;
  const [before = "", after] = plain.split("::");
  const parse = (part: string | undefined) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const [first, last] = [parse(before), parse(after)];
  const bytes = Buffer.alloc(16);
  for (const [index, group] of first.entries()) bytes.writeUInt16BE(group, 2 * index);
  for (const [index, group] of last.entries()) bytes.writeUInt16BE(group, 16 - 2 * (last.length - index));
  return bytes;
}

export function withoutZone(address: string): string {
  const zone = address.indexOf("%");
  return zone < 0 ? address : address.slice(0, zone);
}

const groupsOf = (bytes: Buffer): number[] => Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16BE(2 * index));

/** As the system's `inet_ntop`, so that it can be compared with the sender of a datagram. */
export function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = groupsOf(bytes);
  const zeros = longestZeros(groups);
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (zeros.length < 2) return text(groups);
  const isMapped = zeros.at === 0 && zeros.length === 5 && groups[5] === 0xffff;
  if (isMapped) return `::ffff:${bytes.subarray(12).join(".")}`;
  if (zeros.at === 0 && zeros.length === 6) return `::${bytes.subarray(12).join(".")}`;
  return `${text(groups.slice(0, zeros.at))}::${text(groups.slice(zeros.at + zeros.length))}`;
}

function longestZeros(groups: readonly number[]): { readonly at: number; readonly length: number } {
  let best = { at: 0, length: 0 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === 0) length++;
    if (length > best.length) best = { at, length };
    at += length;
  }
  return best;
}
