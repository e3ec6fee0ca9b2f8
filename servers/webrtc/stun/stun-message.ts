import { crc32 } from "node:zlib";
import { type StunClass, stunAttributes, stunClasses } from "./stun-attributes.ts";

export const magicCookie = 0x2112_a442;
export const headerBytes = 20;
/** RFC 8489 §14.7: XORed to the CRC, so that it differs from the CRC of other protocols in the same packet. */
export const fingerprintMask = 0x5354_554e;
/** More attributes than any message has. */
const mostAttributes = 256;

export interface StunAttribute {
  readonly type: number;
  /** A part of the message's bytes. */
  readonly value: Buffer;
}

export interface StunMessage {
  readonly messageClass: StunClass;
  readonly method: number;
  /** From before RFC 5389: without the magic cookie, whose bytes belong to its transaction id. */
  readonly isClassic: boolean;
  /** Magic cookie and transaction id: the 16 bytes that a response repeats. */
  readonly transaction: Buffer;
  /** Without those that RFC 8489 says are ignored: behind MESSAGE-INTEGRITY. */
  readonly attributes: readonly StunAttribute[];
  /** Where MESSAGE-INTEGRITY and MESSAGE-INTEGRITY-SHA256 begin; 0 without. */
  readonly integrityAt: number;
  readonly integritySha256At: number;
  readonly bytes: Buffer;
}

export const isStun = (firstByte: number): boolean => (firstByte & 0xc0) === 0;

/** By its first two bytes (RFC 8489 §5): neither an indication nor a response. */
export const looksLikeRequest = (bytes: Buffer): boolean => ((bytes[0] ?? 1) & 0xc1) === 0 && ((bytes[1] ?? 0) & 0x10) === 0;

/** Undefined for what is not one whole, well-formed message with a right FINGERPRINT, if it has one. Keeps parts of `bytes`. */
export function parseStun(bytes: Buffer): StunMessage | undefined {
  if (bytes.length < headerBytes || !isStun(bytes[0] as number)) return undefined;
  if ((bytes.length & 3) !== 0 || bytes.readUInt16BE(2) !== bytes.length - headerBytes) return undefined;
  const attributes: StunAttribute[] = [];
  let integrityAt = 0;
  let integritySha256At = 0;
  for (let at = headerBytes; at < bytes.length; ) {
    const type = bytes.readUInt16BE(at);
    const end = at + 4 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length || attributes.length === mostAttributes) return undefined;
    const value = bytes.subarray(at + 4, end);
    if (type === stunAttributes.fingerprint) {
      if (value.length !== 4 || end !== bytes.length || fingerprintOf(bytes.subarray(0, at)) !== value.readUInt32BE()) return undefined;
      attributes.push({ type, value });
    } else if (type === stunAttributes.messageIntegritySha256 && integritySha256At === 0) {
      // RFC 8489 §14.6: truncated to a multiple of 4, at least 16.
      if (value.length < 16 || value.length > 32 || (value.length & 3) !== 0) return undefined;
      integritySha256At = at;
      attributes.push({ type, value });
    } else if (integrityAt === 0 && integritySha256At === 0) {
      if (type === stunAttributes.messageIntegrity) {
        if (value.length !== 20) return undefined;
        integrityAt = at;
      }
      attributes.push({ type, value });
    }
    at = (end + 3) & ~3;
  }
  const type = bytes.readUInt16BE(0);
  return {
    messageClass: stunClasses[((type >> 4) & 1) | ((type >> 7) & 2)] as StunClass,
    method: (type & 0xf) | ((type & 0xe0) >> 1) | ((type & 0x3e00) >> 2),
    isClassic: bytes.readUInt32BE(4) !== magicCookie,
    transaction: bytes.subarray(4, headerBytes),
    ...{ attributes, integrityAt, integritySha256At, bytes },
  };
}

/** The first one: RFC 8489 §14 lets others be ignored. */
export function attributeOf({ attributes }: StunMessage, type: number): Buffer | undefined {
  for (const attribute of attributes) if (attribute.type === type) return attribute.value;
  return undefined;
}

export const fingerprintOf = (bytes: Buffer): number => (crc32(bytes) ^ fingerprintMask) >>> 0;
