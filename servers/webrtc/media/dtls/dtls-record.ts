import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";

/** RFC 6347 §4.1. Integers and lengths are those of the wire. */
export const contentTypes = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;
export const dtls12 = 0xfefd;
export const recordHeadBytes = 13;

export interface DtlsRecord {
  readonly type: number;
  readonly version: number;
  readonly epoch: number;
  /** Epoch and sequence number, which a nonce repeats. */
  readonly number: Buffer;
  readonly fragment: Buffer;
}

/** More records than a handshake puts into one datagram. */
const mostRecords = 16;

/** The records of a datagram, up to one that is cut or of another version. */
export function parseRecords(datagram: Buffer): DtlsRecord[] {
  const records: DtlsRecord[] = [];
  for (let at = 0; at + recordHeadBytes <= datagram.length && records.length < mostRecords; ) {
    const end = at + recordHeadBytes + datagram.readUInt16BE(at + 11);
    // A ClientHello may have the version 1.0 in its record.
    if (datagram[at + 1] !== 0xfe || end > datagram.length) break;
    records.push({
      type: datagram[at] as number,
      version: datagram.readUInt16BE(at + 1),
      epoch: datagram.readUInt16BE(at + 3),
      number: datagram.subarray(at + 3, at + 11),
      fragment: datagram.subarray(at + recordHeadBytes, end),
    });
    at = end;
  }
  return records;
}

export function writeRecord(type: number, number: Buffer, fragment: Buffer): Buffer {
  const record = Buffer.allocUnsafe(recordHeadBytes + fragment.length);
  record[0] = type;
  record.writeUInt16BE(dtls12, 1);
  number.copy(record, 3);
  record.writeUInt16BE(fragment.length, 11);
  fragment.copy(record, recordHeadBytes);
  return record;
}

export function recordNumber(epoch: number, sequence: number): Buffer {
  const number = Buffer.allocUnsafe(8);
  number.writeUInt16BE(epoch);
  number.writeUIntBE(sequence, 2, 6);
  return number;
}

const tagBytes = 16;
const explicitBytes = 8;

/** AES-128-GCM of one direction (RFC 5288 §3). */
export class RecordCipher {
  readonly #key: KeyObject;
  readonly #salt: Buffer;

  /** `salt` is the implicit part of the nonce: four bytes. */
  constructor(key: Buffer, salt: Buffer) {
    this.#key = createSecretKey(key);
    this.#salt = Buffer.from(salt);
  }

  /** The fragment of a record. */
  seal(type: number, number: Buffer, plain: Buffer): Buffer {
    const cipher = createCipheriv("aes-128-gcm", this.#key, Buffer.concat([this.#salt, number]));
    cipher.setAAD(additionalData(type, number, plain.length, dtls12));
    const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([number, encrypted, cipher.getAuthTag()]);
  }

  /** Undefined where it is not genuine. */
  open({ type, version, number, fragment }: DtlsRecord): Buffer | undefined {
    const end = fragment.length - tagBytes;
    if (end < explicitBytes) return undefined;
    const nonce = Buffer.concat([this.#salt, fragment.subarray(0, explicitBytes)]);
    const decipher = createDecipheriv("aes-128-gcm", this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(additionalData(type, number, end - explicitBytes, version));
    decipher.setAuthTag(fragment.subarray(end));
    const plain = decipher.update(fragment.subarray(explicitBytes, end));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plain;
  }
}

function additionalData(type: number, number: Buffer, length: number, version: number): Buffer {
  const data = Buffer.allocUnsafe(13);
  number.copy(data);
  data[8] = type;
  data.writeUInt16BE(version, 9);
  data.writeUInt16BE(length, 11);
  return data;
}
