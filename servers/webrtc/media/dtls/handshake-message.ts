/** Messages of the DTLS 1.2 handshake (RFC 6347 §4.2, RFC 5246 §7.4). */

export const handshakeTypes = {
  clientHello: 1,
  serverHello: 2,
  helloVerifyRequest: 3,
  certificate: 11,
  serverKeyExchange: 12,
  certificateRequest: 13,
  serverHelloDone: 14,
  certificateVerify: 15,
  clientKeyExchange: 16,
  finished: 20,
} as const;

export const messageHeadBytes = 12;
/** A chain of certificates; more is not reassembled. */
const mostMessageBytes = 16 << 10;
/** Messages that may be ahead of the next one. */
const mostAhead = 8;

export interface HandshakeMessage {
  readonly type: number;
  readonly sequence: number;
  readonly body: Buffer;
  /** As if it had been sent in one piece: what is hashed (RFC 6347 §4.2.6). */
  readonly bytes: Buffer;
}

export function writeMessage(type: number, sequence: number, body: Buffer): HandshakeMessage {
  const bytes = Buffer.allocUnsafe(messageHeadBytes + body.length);
  bytes[0] = type;
  bytes.writeUIntBE(body.length, 1, 3);
  bytes.writeUInt16BE(sequence, 4);
  bytes.writeUIntBE(0, 6, 3);
  bytes.writeUIntBE(body.length, 9, 3);
  body.copy(bytes, messageHeadBytes);
  return { type, sequence, body: bytes.subarray(messageHeadBytes), bytes };
}

interface PartialMessage {
  readonly type: number;
  readonly body: Buffer;
  /** Which bytes have come. */
  readonly has: Uint8Array;
  missing: number;
}

/** Joins the fragments of messages and gives them in their order. */
export class HandshakeReader {
  #next = 0;
  readonly #partial = new Map<number, PartialMessage>();

  /** Sequence number of the message that is next to come. */
  get next(): number {
    return this.#next;
  }

  /**
   * Takes the fragments of a record. Finished alone belongs to the second epoch (RFC 6347 §4.1); a message of the wrong one is passed over, since anybody can
   * send what is not encrypted. Returns the type of a message that had come before: its sender has not got our answer.
   */
  push(record: Buffer, epoch: number): number | undefined {
    let repeated: number | undefined;
    for (let at = 0; at + messageHeadBytes <= record.length; ) {
      const type = record[at] as number;
      const length = record.readUIntBE(at + 1, 3);
      const sequence = record.readUInt16BE(at + 4);
      const from = record.readUIntBE(at + 6, 3);
      const bytes = record.readUIntBE(at + 9, 3);
      const start = at + messageHeadBytes;
      at = start + bytes;
      if (at > record.length || from + bytes > length || length > mostMessageBytes) return repeated;
      if ((type === handshakeTypes.finished) !== (epoch === 1)) continue;
      if (sequence < this.#next) repeated = type;
      else if (sequence < this.#next + mostAhead) this.#add(type, sequence, length, from, record.subarray(start, at));
    }
    return repeated;
  }

  #add(type: number, sequence: number, length: number, from: number, bytes: Buffer): void {
    const known = this.#partial.get(sequence);
    const message = known ?? { type, body: Buffer.alloc(length), has: new Uint8Array(length), missing: length };
    if (message.type !== type || message.body.length !== length) return;
    this.#partial.set(sequence, message);
    bytes.copy(message.body, from);
    for (let at = from; at < from + bytes.length; at++) {
      if (message.has[at] === 0) message.missing--;
      message.has[at] = 1;
    }
  }

  /** The next message, if all of it has come. */
  take(): HandshakeMessage | undefined {
    const sequence = this.#next;
    const message = this.#partial.get(sequence);
    if (!message || message.missing > 0) return undefined;
    this.#partial.delete(sequence);
    this.#next++;
    return writeMessage(message.type, sequence, message.body);
  }
}

/** A message that is not as its format says, or asks for what is not there. `alert` is its number in RFC 5246 §7.2.2. */
export class HandshakeError extends Error {
  readonly alert: number;

  constructor(message: string, alert: number) {
    super(message);
    this.alert = alert;
  }
}
export const alerts = {
  closeNotify: 0,
  unexpectedMessage: 10,
  handshakeFailure: 40,
  badCertificate: 42,
  illegalParameter: 47,
  decodeError: 50,
  decryptError: 51,
} as const;

/** Reads fields one behind the other. Throws a HandshakeError where the bytes end. */
class FieldReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new HandshakeError("a message ends too early", alerts.decodeError);
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  /** Behind its length, which has so many bytes. */
  vector(lengthBytes: number): Buffer {
    return this.take(this.number(lengthBytes));
  }
}

const numbersOf = (bytes: Buffer): number[] => Array.from({ length: bytes.length >> 1 }, (_, index) => bytes.readUInt16BE(2 * index));

export const extensions = {
  supportedGroups: 10,
  pointFormats: 11,
  signatureAlgorithms: 13,
  useSrtp: 14,
  extendedMasterSecret: 23,
  renegotiationInfo: 0xff01,
} as const;

export interface ClientHello {
  readonly random: Buffer;
  readonly cipherSuites: readonly number[];
  readonly groups: readonly number[];
  /** In the order in which the client wants them. */
  readonly srtpProfiles: readonly number[];
  readonly hasExtendedMasterSecret: boolean;
  readonly hasPointFormats: boolean;
}

/** Throws a HandshakeError. */
export function readClientHello(body: Buffer): ClientHello {
  const reader = new FieldReader(body);
  reader.take(2);
  const random = reader.take(32);
  reader.vector(1);
  reader.vector(1);
  const cipherSuites = numbersOf(reader.vector(2));
  reader.vector(1);
  const found = readExtensions(reader);
  const listIn = (type: number) => {
    const value = found.get(type);
    return value ? numbersOf(new FieldReader(value).vector(2)) : [];
  };
  return {
    random,
    cipherSuites,
    groups: listIn(extensions.supportedGroups),
    srtpProfiles: listIn(extensions.useSrtp),
    hasExtendedMasterSecret: found.has(extensions.extendedMasterSecret),
    hasPointFormats: found.has(extensions.pointFormats),
  };
}

/** At the end of a hello, which may have none. */
function readExtensions(reader: FieldReader): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  if (reader.isAtEnd) return found;
  const list = new FieldReader(reader.vector(2));
  while (!list.isAtEnd) found.set(list.number(2), list.vector(2));
  return found;
}

export const writeExtension = (type: number, ...value: readonly Buffer[]): Buffer => Buffer.concat([uint16(type), vector(2, ...value)]);

/** The cookie with which the hello has to be sent again. Throws a HandshakeError; so below. */
export function readHelloVerifyRequest(body: Buffer): Buffer {
  const reader = new FieldReader(body);
  reader.take(2);
  return reader.vector(1);
}

export interface ServerHello {
  readonly version: number;
  readonly random: Buffer;
  readonly cipherSuite: number;
  readonly compression: number;
  /** The one that the server has chosen; undefined without SRTP. */
  readonly srtpProfile: number | undefined;
  readonly hasExtendedMasterSecret: boolean;
}

export function readServerHello(body: Buffer): ServerHello {
  const reader = new FieldReader(body);
  const version = reader.number(2);
  const random = reader.take(32);
  reader.vector(1);
  const cipherSuite = reader.number(2);
  const compression = reader.number(1);
  const found = readExtensions(reader);
  const srtp = found.get(extensions.useSrtp);
  const [srtpProfile] = srtp ? numbersOf(new FieldReader(srtp).vector(2)) : [];
  return { version, random, cipherSuite, compression, srtpProfile, hasExtendedMasterSecret: found.has(extensions.extendedMasterSecret) };
}

export interface ServerKeyExchange {
  /** Undefined for another kind of curve. */
  readonly group: number | undefined;
  readonly point: Buffer;
  /** What is signed, behind the random numbers of both hellos. */
  readonly parameters: Buffer;
  readonly algorithm: number;
  readonly signature: Buffer;
}

/** RFC 8422 §5.4 */
export const namedCurve = 3;

export function readServerKeyExchange(body: Buffer): ServerKeyExchange {
  const reader = new FieldReader(body);
  const kind = reader.number(1);
  const group = reader.number(2);
  const point = reader.vector(1);
  const parameters = body.subarray(0, 4 + point.length);
  return { group: kind === namedCurve ? group : undefined, point, parameters, algorithm: reader.number(2), signature: reader.vector(2) };
}

/** The signature algorithms that the server takes. */
export function readCertificateRequest(body: Buffer): readonly number[] {
  const reader = new FieldReader(body);
  reader.vector(1);
  return numbersOf(reader.vector(2));
}

/** The first certificate of a chain, in DER; undefined where the client has none. */
export function readCertificate(body: Buffer): Buffer | undefined {
  const chain = new FieldReader(new FieldReader(body).vector(3));
  return chain.isAtEnd ? undefined : chain.vector(3);
}

/** The client's point of the elliptic curve. */
export const readClientKeyExchange = (body: Buffer): Buffer => new FieldReader(body).vector(1);

export function readCertificateVerify(body: Buffer): { readonly algorithm: number; readonly signature: Buffer } {
  const reader = new FieldReader(body);
  return { algorithm: reader.number(2), signature: reader.vector(2) };
}

export const vector = (lengthBytes: number, ...parts: readonly Buffer[]): Buffer => {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(
    parts.reduce((sum, part) => sum + part.length, 0),
    0,
    lengthBytes,
  );
  return Buffer.concat([length, ...parts]);
};

export const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
