import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { stunAttributes } from "./stun-attributes.ts";
import { headerBytes, type StunMessage } from "./stun-message.ts";

export type IntegrityHash = "sha1" | "sha256";

/** The values of MESSAGE-INTEGRITY and MESSAGE-INTEGRITY-SHA256 have these sizes. */
export const integrityBytes: Readonly<Record<IntegrityHash, number>> = { sha1: 20, sha256: 32 };
export const integrityTypes: Readonly<Record<IntegrityHash, number>> = {
  sha1: stunAttributes.messageIntegrity,
  sha256: stunAttributes.messageIntegritySha256,
};

/** For a key that is used again a KeyObject: Node makes one of each Buffer, which costs five times the HMAC itself. */
export type HmacKey = Buffer | KeyObject;

const length = Buffer.alloc(2);

/** RFC 8489 §14.5: over the message before the attribute, with a length as if it ended with the attribute. */
export function integrityOf(
  hash: IntegrityHash,
  key: HmacKey,
  bytes: Buffer,
  attributeAt: number,
  valueBytes = integrityBytes[hash],
): Buffer {
  length.writeUInt16BE(attributeAt + 4 + valueBytes - headerBytes);
  const hmac = createHmac(hash, key).update(bytes.subarray(0, 2)).update(length).update(bytes.subarray(4, attributeAt));
  return hmac.digest().subarray(0, valueBytes);
}

/** Whether the message has this attribute, computed with this key. */
export function hasIntegrity(hash: IntegrityHash, key: HmacKey, { bytes, integrityAt, integritySha256At }: StunMessage): boolean {
  const at = hash === "sha1" ? integrityAt : integritySha256At;
  if (at === 0) return false;
  const given = bytes.subarray(at + 4, at + 4 + bytes.readUInt16BE(at + 2));
  return timingSafeEqual(given, integrityOf(hash, key, bytes, at, given.length));
}
