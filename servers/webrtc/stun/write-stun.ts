import { type HmacKey, type IntegrityHash, integrityBytes, integrityOf, integrityTypes } from "./message-integrity.ts";
import { errorReasons, type StunClass, stunAttributes, stunClasses } from "./stun-attributes.ts";
import { fingerprintOf, headerBytes } from "./stun-message.ts";

export type WrittenAttribute = readonly [type: number, value: Buffer];

export interface IntegrityKey {
  readonly hash: IntegrityHash;
  readonly key: HmacKey;
}

export interface StunContent {
  readonly messageClass: StunClass;
  readonly method: number;
  /** Magic cookie and transaction id. */
  readonly transaction: Buffer;
  readonly attributes: readonly WrittenAttribute[];
  readonly integrity?: IntegrityKey | undefined;
  readonly fingerprint: boolean;
}

/** Attributes are padded to four bytes, and so is ChannelData in a stream (RFC 8656 §12.5). */
export const paddedLength = (length: number): number => (length + 3) & ~3;

export function writeStun({ messageClass, method, transaction, attributes, integrity, fingerprint }: StunContent): Buffer {
  let size = headerBytes;
  for (const [, value] of attributes) size += 4 + paddedLength(value.length);
  if (integrity) size += 4 + integrityBytes[integrity.hash];
  if (fingerprint) size += 8;
  const bytes = Buffer.alloc(size);
  bytes.writeUInt16BE(messageType(messageClass, method));
  transaction.copy(bytes, 4);
  let at = headerBytes;
  const write = (type: number, value: Buffer) => {
    bytes.writeUInt16BE(type, at);
    bytes.writeUInt16BE(value.length, at + 2);
    value.copy(bytes, at + 4);
    at += 4 + paddedLength(value.length);
  };
  for (const [type, value] of attributes) write(type, value);
  if (integrity) write(integrityTypes[integrity.hash], integrityOf(integrity.hash, integrity.key, bytes, at));
  bytes.writeUInt16BE(size - headerBytes, 2);
  if (fingerprint) write(stunAttributes.fingerprint, uint32(fingerprintOf(bytes.subarray(0, at))));
  return bytes;
}

/** RFC 8489 §5: the class bits stand between those of the method. */
export function messageType(messageClass: StunClass, method: number): number {
  const bits = stunClasses.indexOf(messageClass);
  return (method & 0xf) | ((method & 0x70) << 1) | ((method & 0xf80) << 2) | ((bits & 1) << 4) | ((bits & 2) << 7);
}

export function uint32(number: number): Buffer {
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32BE(number);
  return value;
}

export function uint16List(numbers: readonly number[]): Buffer {
  const value = Buffer.allocUnsafe(2 * numbers.length);
  for (const [index, number] of numbers.entries()) value.writeUInt16BE(number, 2 * index);
  return value;
}

/** The value of ERROR-CODE, and behind a family number that of ADDRESS-ERROR-CODE. */
export const errorCodeValue = (code: number, family = 0): Buffer =>
  Buffer.concat([Buffer.from([family, 0, Math.floor(code / 100), code % 100]), Buffer.from(errorReasons[code] ?? "Error")]);
