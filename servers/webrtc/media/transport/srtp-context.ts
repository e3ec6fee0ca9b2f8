import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

/** RFC 5764 §4.1.2 and RFC 7714 §14.2, by their numbers in the DTLS extension. */
export const srtpProfiles = {
  1: { name: "AES_CM_128_HMAC_SHA1_80", keyBytes: 16, saltBytes: 14, tagBytes: 10, isAead: false },
  7: { name: "AEAD_AES_128_GCM", keyBytes: 16, saltBytes: 12, tagBytes: 16, isAead: true },
} as const;
export type SrtpProfileNumber = keyof typeof srtpProfiles;
type SrtpProfile = (typeof srtpProfiles)[SrtpProfileNumber];

export interface SrtpKeys {
  readonly key: Buffer;
  readonly salt: Buffer;
}

/** RFC 3711 §4.3.1 */
const labels = { rtpKey: 0, rtpAuth: 1, rtpSalt: 2, rtcpKey: 3, rtcpAuth: 4, rtcpSalt: 5 } as const;

interface DerivedKeys {
  readonly key: KeyObject;
  readonly auth: KeyObject;
  readonly salt: Buffer;
}

const authKeyBytes = 20;
const rtcpIndexBytes = 4;
const rtcpHeadBytes = 8;
const encryptedFlag = 0x8000_0000;
/** Sources of one sender: a peer that makes up more is not listened to. */
const mostSources = 32;
const replayWindow = 1_024;

interface SentSource {
  highest: number;
}

interface ReceivedSource {
  highest: number;
  /** The last indexes, by their remainder. */
  readonly seen: Float64Array;
}

/** One direction of SRTP and SRTCP (RFC 3711, RFC 7714): of the packets that are sent, or of those that are received. */
abstract class SrtpDirection {
  protected readonly profile: SrtpProfile;
  protected readonly rtp: DerivedKeys;
  protected readonly rtcp: DerivedKeys;
  /** Used for each packet anew: a cipher copies it. */
  readonly #nonce: Buffer;

  constructor(profile: SrtpProfileNumber, keys: SrtpKeys) {
    this.profile = srtpProfiles[profile];
    const { rtpKey, rtpAuth, rtpSalt, rtcpKey, rtcpAuth, rtcpSalt } = labels;
    this.rtp = this.#derive(keys, [rtpKey, rtpAuth, rtpSalt]);
    this.rtcp = this.#derive(keys, [rtcpKey, rtcpAuth, rtcpSalt]);
    this.#nonce = Buffer.alloc(this.profile.isAead ? 12 : 16);
  }

  #derive({ key, salt }: SrtpKeys, [ofKey, ofAuth, ofSalt]: readonly [number, number, number]): DerivedKeys {
    const { keyBytes, saltBytes } = this.profile;
    const derive = (label: number, length: number) => {
      const counter = Buffer.alloc(16);
      salt.copy(counter);
      counter[7] = (counter[7] as number) ^ label;
      return createCipheriv("aes-128-ctr", key, counter).update(Buffer.alloc(length));
    };
    return {
      key: createSecretKey(derive(ofKey, keyBytes)),
      auth: createSecretKey(derive(ofAuth, authKeyBytes)),
      salt: derive(ofSalt, saltBytes),
    };
  }

  /** RFC 3711 §4.1.1 and RFC 7714 §8.1: the counter or nonce of an RTP packet; `index` is the roll-over counter and the sequence number. */
  protected rtpNonce(ssrc: number, index: number): Buffer {
    const rollOver = Math.floor(index / 0x1_0000);
    const nonce = this.#nonce.fill(0);
    const at = this.profile.isAead ? 2 : 4;
    nonce.writeUInt32BE(ssrc, at);
    nonce.writeUInt32BE(rollOver >>> 0, at + 4);
    nonce.writeUInt16BE(index & 0xffff, at + 8);
    return withSalt(nonce, this.rtp.salt);
  }

  /** The same of an RTCP packet (RFC 7714 §9.1). */
  protected rtcpNonce(ssrc: number, index: number): Buffer {
    const { isAead } = this.profile;
    const nonce = this.#nonce.fill(0);
    nonce.writeUInt32BE(ssrc, isAead ? 2 : 4);
    nonce.writeUInt32BE(index, isAead ? 8 : 10);
    return withSalt(nonce, this.rtcp.salt);
  }

  protected rtpTag(packet: Buffer, index: number): Buffer {
    const rollOver = Buffer.allocUnsafe(4);
    rollOver.writeUInt32BE(Math.floor(index / 0x1_0000) >>> 0);
    return createHmac("sha1", this.rtp.auth).update(packet).update(rollOver).digest().subarray(0, this.profile.tagBytes);
  }

  protected rtcpTag(packet: Buffer): Buffer {
    return createHmac("sha1", this.rtcp.auth).update(packet).digest().subarray(0, this.profile.tagBytes);
  }
}

export class SrtpSender extends SrtpDirection {
  readonly #sources = new Map<number, SentSource>();
  #rtcpIndex = 0;

  /** `head` is the header of an RTP packet. */
  protectRtp(head: Buffer, payload: Buffer): Buffer {
    const ssrc = head.readUInt32BE(8);
    const sequence = head.readUInt16BE(2);
    const source = this.#sources.get(ssrc) ?? { highest: sequence };
    this.#sources.set(ssrc, source);
    const index = indexOf(sequence, source.highest);
    source.highest = Math.max(source.highest, index);
    const { tagBytes, isAead } = this.profile;
    const end = head.length + payload.length;
    const bytes = Buffer.allocUnsafe(end + tagBytes);
    head.copy(bytes);
    const nonce = this.rtpNonce(ssrc, index);
    if (isAead) {
      const cipher = createCipheriv("aes-128-gcm", this.rtp.key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(head);
      cipher.update(payload).copy(bytes, head.length);
      cipher.final();
      cipher.getAuthTag().copy(bytes, end);
    } else {
      createCipheriv("aes-128-ctr", this.rtp.key, nonce).update(payload).copy(bytes, head.length);
      this.rtpTag(bytes.subarray(0, end), index).copy(bytes, end);
    }
    return bytes;
  }

  /** `packet` is a compound RTCP packet. */
  protectRtcp(packet: Buffer): Buffer {
    const { tagBytes, isAead } = this.profile;
    const index = this.#rtcpIndex;
    this.#rtcpIndex = (index + 1) % 2 ** 31;
    const nonce = this.rtcpNonce(packet.readUInt32BE(4), index);
    const flagged = Buffer.allocUnsafe(rtcpIndexBytes);
    flagged.writeUInt32BE((index | encryptedFlag) >>> 0);
    const head = packet.subarray(0, rtcpHeadBytes);
    const body = packet.subarray(rtcpHeadBytes);
    if (isAead) {
      const cipher = createCipheriv("aes-128-gcm", this.rtcp.key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.concat([head, flagged]));
      const encrypted = Buffer.concat([head, cipher.update(body), cipher.final()]);
      return Buffer.concat([encrypted, cipher.getAuthTag(), flagged]);
    }
    const encrypted = Buffer.concat([head, createCipheriv("aes-128-ctr", this.rtcp.key, nonce).update(body), flagged]);
    return Buffer.concat([encrypted, this.rtcpTag(encrypted)]);
  }
}

export class SrtpReceiver extends SrtpDirection {
  readonly #sources = new Map<number, ReceivedSource>();
  readonly #rtcpSources = new Map<number, ReceivedSource>();

  /** The RTP packet; undefined where it is none, was forged, or has come before. `headBytes`: of its header with extensions. */
  unprotectRtp(bytes: Buffer, headBytes: number): Buffer | undefined {
    const { tagBytes, isAead } = this.profile;
    const end = bytes.length - tagBytes;
    if (end < headBytes) return undefined;
    const ssrc = bytes.readUInt32BE(8);
    const sequence = bytes.readUInt16BE(2);
    const source = sourceOf(this.#sources, ssrc, sequence);
    const index = source && indexOf(sequence, source.highest);
    if (!source || index === undefined || index < 0 || isReplayed(source, index)) return undefined;
    const head = bytes.subarray(0, headBytes);
    const nonce = this.rtpNonce(ssrc, index);
    let payload: Buffer;
    if (isAead) {
      const opened = openAead(this.rtp.key, nonce, head, bytes.subarray(headBytes, end), bytes.subarray(end));
      if (!opened) return undefined;
      payload = opened;
    } else {
      if (!timingSafeEqual(this.rtpTag(bytes.subarray(0, end), index), bytes.subarray(end))) return undefined;
      payload = createDecipheriv("aes-128-ctr", this.rtp.key, nonce).update(bytes.subarray(headBytes, end));
    }
    taken(this.#sources, ssrc, source, index);
    return Buffer.concat([head, payload]);
  }

  /** The compound RTCP packet; undefined as above. */
  unprotectRtcp(bytes: Buffer): Buffer | undefined {
    const { tagBytes, isAead } = this.profile;
    const tail = tagBytes + rtcpIndexBytes;
    if (bytes.length < rtcpHeadBytes + tail) return undefined;
    const end = bytes.length - tail;
    const indexAt = isAead ? bytes.length - rtcpIndexBytes : end;
    const flagged = bytes.subarray(indexAt, indexAt + rtcpIndexBytes);
    const isEncrypted = ((flagged[0] as number) & 0x80) !== 0;
    const index = flagged.readUInt32BE() & 0x7fff_ffff;
    const ssrc = bytes.readUInt32BE(4);
    const source = sourceOf(this.#rtcpSources, ssrc, index);
    // What is not encrypted comes from nobody whom we know.
    if (!isEncrypted || !source || isReplayed(source, index)) return undefined;
    const head = bytes.subarray(0, rtcpHeadBytes);
    const nonce = this.rtcpNonce(ssrc, index);
    let body: Buffer;
    if (isAead) {
      const tag = bytes.subarray(end, end + tagBytes);
      const opened = openAead(this.rtcp.key, nonce, Buffer.concat([head, flagged]), bytes.subarray(rtcpHeadBytes, end), tag);
      if (!opened) return undefined;
      body = opened;
    } else {
      if (!timingSafeEqual(this.rtcpTag(bytes.subarray(0, end + rtcpIndexBytes)), bytes.subarray(end + rtcpIndexBytes))) return undefined;
      body = createDecipheriv("aes-128-ctr", this.rtcp.key, nonce).update(bytes.subarray(rtcpHeadBytes, end));
    }
    taken(this.#rtcpSources, ssrc, source, index);
    return Buffer.concat([head, body]);
  }
}

function openAead(key: KeyObject, nonce: Buffer, head: Buffer, encrypted: Buffer, tag: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-128-gcm", key, nonce, { authTagLength: tag.length });
  decipher.setAAD(head);
  decipher.setAuthTag(tag);
  const plain = decipher.update(encrypted);
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}

function withSalt(nonce: Buffer, salt: Buffer): Buffer {
  for (let at = 0; at < salt.length; at++) nonce[at] = (nonce[at] as number) ^ (salt[at] as number);
  return nonce;
}

/** RFC 3711 appendix A: the index with this sequence number that is nearest to the highest one; below 0 there is none. */
function indexOf(sequence: number, highest: number): number {
  const ahead = ((sequence - (highest & 0xffff)) << 16) >> 16;
  return highest + ahead;
}

function sourceOf(sources: ReadonlyMap<number, ReceivedSource>, ssrc: number, first: number): ReceivedSource | undefined {
  const known = sources.get(ssrc);
  if (known) return known;
  return sources.size < mostSources ? { highest: first, seen: new Float64Array(replayWindow).fill(-1) } : undefined;
}

const isReplayed = ({ highest, seen }: ReceivedSource, index: number): boolean =>
  index <= highest - replayWindow || seen[index % replayWindow] === index;

/** Only what is genuine changes anything. */
function taken(sources: Map<number, ReceivedSource>, ssrc: number, source: ReceivedSource, index: number): void {
  sources.set(ssrc, source);
  source.seen[index % replayWindow] = index;
  source.highest = Math.max(source.highest, index);
}
