import type { StunAttributeView, StunMessageView } from "../../../contract/traffic/webrtc.ts";
import { passwordAlgorithmNumbers, stunAttributes } from "./stun-attributes.ts";
import { headerBytes } from "./stun-message.ts";
import { addressText, decodeXorAddress, familyNumbers } from "./transport-address.ts";
import { paddedLength } from "./write-stun.ts";

/** Of ICE (RFC 8445 §16.1) and of RFC 5780 §7: the server ignores them. */
const otherNames: Readonly<Record<number, string>> = {
  36: "PRIORITY",
  37: "USE-CANDIDATE",
  38: "PADDING",
  39: "RESPONSE-PORT",
  32803: "ALTERNATE-SERVER",
  32809: "ICE-CONTROLLED",
  32810: "ICE-CONTROLLING",
  32811: "RESPONSE-ORIGIN",
  32812: "OTHER-ADDRESS",
};
const names: ReadonlyMap<number, string> = new Map([
  ...Object.entries(otherNames).map(([type, name]): [number, string] => [Number(type), name]),
  ...Object.entries(stunAttributes).map(([name, type]): [number, string] => [type, nameOf(name)]),
  [stunAttributes.additionalAddressFamilyOfDraft, "ADDITIONAL-ADDRESS-FAMILY (draft)"],
]);

/** "xorMappedAddress" is "XOR-MAPPED-ADDRESS". */
function nameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter}`).toUpperCase();
}

const hex = (number: number, digits: number) => `0x${number.toString(16).padStart(digits, "0")}`;
const keyOf = (numbers: Readonly<Record<string, number>>, number: number) =>
  Object.entries(numbers).find(([, one]) => one === number)?.[0] ?? String(number);
const text = (value: Buffer) => value.toString("utf8");
const number = (value: Buffer) => (value.length >= 4 ? value.readUInt32BE() : undefined);
const family = (value: Buffer) => keyOf(familyNumbers, value[0] ?? 0);
const uint16s = (value: Buffer) => Array.from({ length: value.length >> 1 }, (_, index) => value.readUInt16BE(2 * index));
const addressAndPort = (address: string, port: number) => (address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);

function xorAddress(value: Buffer, transaction: Buffer): string | undefined {
  const decoded = decodeXorAddress(value, transaction);
  return decoded && addressAndPort(decoded.address, decoded.port);
}

function plainAddress(value: Buffer): string | undefined {
  if (value.length !== 8 && value.length !== 20) return undefined;
  return addressAndPort(addressText(value.subarray(4)), value.readUInt16BE(2));
}

function errorCode(value: Buffer): string | undefined {
  return value.length < 4 ? undefined : `${(value[2] as number) * 100 + (value[3] as number)} ${text(value.subarray(4))}`;
}

/** RFC 8489 §14.11: a number and the length of its parameters each. */
function algorithms(value: Buffer): string {
  const found: string[] = [];
  for (let at = 0; at + 4 <= value.length; at += 4 + paddedLength(value.readUInt16BE(at + 2))) {
    found.push(keyOf(passwordAlgorithmNumbers, value.readUInt16BE(at)));
  }
  return found.join(", ");
}

const transports: Readonly<Record<string, number>> = { TCP: 6, UDP: 17 };
const texts = new Map<number, (value: Buffer, transaction: Buffer) => string | undefined>([
  [stunAttributes.mappedAddress, plainAddress],
  [stunAttributes.username, text],
  // A password could be searched with them.
  [stunAttributes.messageIntegrity, () => ""],
  [stunAttributes.messageIntegritySha256, () => ""],
  [stunAttributes.errorCode, errorCode],
  [
    stunAttributes.unknownAttributes,
    (value) =>
      uint16s(value)
        .map((type) => names.get(type) ?? hex(type, 4))
        .join(", "),
  ],
  [stunAttributes.channelNumber, (value) => (value.length < 2 ? undefined : hex(value.readUInt16BE(), 4))],
  [stunAttributes.lifetime, (value) => number(value)?.toString().concat(" s")],
  [stunAttributes.xorPeerAddress, xorAddress],
  [stunAttributes.realm, text],
  [stunAttributes.nonce, text],
  [stunAttributes.xorRelayedAddress, xorAddress],
  [stunAttributes.requestedAddressFamily, family],
  [stunAttributes.evenPort, (value) => ((value[0] ?? 0) & 0x80 ? "and the next one is reserved" : "")],
  [stunAttributes.requestedTransport, (value) => keyOf(transports, value[0] ?? 0)],
  [stunAttributes.passwordAlgorithm, algorithms],
  [stunAttributes.xorMappedAddress, xorAddress],
  [stunAttributes.additionalAddressFamily, family],
  [stunAttributes.additionalAddressFamilyOfDraft, family],
  [stunAttributes.addressErrorCode, errorCode],
  [stunAttributes.passwordAlgorithms, algorithms],
  [stunAttributes.software, text],
  [0x0024, (value) => number(value)?.toString()],
]);

/** The attributes of a message in order, in words; those without a text of their own in hexadecimal digits. Of a message that is cut those that are there. */
export function describeStun(bytes: Buffer): StunMessageView {
  const transaction = bytes.subarray(4, headerBytes);
  const attributes: StunAttributeView[] = [];
  for (let at = headerBytes; at + 4 <= bytes.length; ) {
    const [type, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)];
    const value = bytes.subarray(at + 4, at + 4 + length);
    attributes.push({
      name: names.get(type) ?? hex(type, 4),
      bytes: length,
      text: texts.get(type)?.(value, transaction) ?? value.toString("hex"),
    });
    at += 4 + paddedLength(length);
  }
  return { bytes: headerBytes + (bytes.length < 4 ? 0 : bytes.readUInt16BE(2)), transaction: transaction.toString("hex"), attributes };
}
