import {
  constants,
  createECDH,
  createHash,
  randomBytes,
  sign,
  timingSafeEqual,
  type VerifyKeyObjectInput,
  verify,
  X509Certificate,
} from "node:crypto";
import { errorText } from "../../../core/service/service-error.ts";
import { type SrtpKeys, type SrtpProfileNumber, srtpProfiles } from "../transport/srtp-context.ts";
import type { DtlsCertificate } from "./dtls-certificate.ts";
import { exportSrtpKeys, finishedData, masterSecret, recordKeys, sha256 } from "./dtls-keys.ts";
import { contentTypes, type DtlsRecord, dtls12, parseRecords, RecordCipher, recordNumber, writeRecord } from "./dtls-record.ts";
import {
  alerts,
  type ClientHello,
  extensions,
  HandshakeError,
  type HandshakeMessage,
  HandshakeReader,
  handshakeTypes,
  readCertificate,
  readCertificateVerify,
  readClientHello,
  readClientKeyExchange,
  uint16,
  vector,
  writeMessage,
} from "./handshake-message.ts";

/** Of an a=fingerprint line. */
export interface Fingerprint {
  /** "sha-256" */
  readonly algorithm: string;
  /** "AB:CD:…" */
  readonly value: string;
}

export interface DtlsConnected {
  readonly profile: SrtpProfileNumber;
  /** Of what this side sends, and of what it receives. */
  readonly sending: SrtpKeys;
  readonly receiving: SrtpKeys;
}

export interface DtlsServerOptions {
  readonly certificate: DtlsCertificate;
  /** The client's certificate has to have one of them. */
  readonly fingerprints: readonly Fingerprint[];
  readonly send: (datagram: Buffer) => void;
  readonly onConnected: (connected: DtlsConnected) => void;
  /** It has failed, or the client has closed it. Called once. */
  readonly onEnd: (reason: string, by: "client" | "server") => void;
}

/** TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 and P-256, which every WebRTC endpoint has (RFC 8827 §6.5). */
const cipherSuite = 0xc02b;
const group = 23;
const ecdsaSha256 = 0x0403;
const rsaSigning = 1;
const ecdsaSigning = 64;

const datagramBytes = 1_200;
const firstRetransmitMs = 400;
const longestRetransmitMs = 6_000;

/** What a client sends behind our ServerHelloDone, each once and in this order (RFC 5246 §7.3). */
const clientFlight: readonly number[] = [
  handshakeTypes.certificate,
  handshakeTypes.clientKeyExchange,
  handshakeTypes.certificateVerify,
  handshakeTypes.finished,
];

type State = "hello" | "client-flight" | "connected" | "ended";

/**
 * The handshake of DTLS 1.2 (RFC 6347) for SRTP (RFC 5764), as the passive side, and nothing else of DTLS. Without a cookie: the client's address has
 * been verified by ICE.
 */
export class DtlsServer {
  readonly #options: DtlsServerOptions;
  readonly #reader = new HandshakeReader();
  readonly #serverRandom = randomBytes(32);
  readonly #ecdh = createECDH("prime256v1");
  #state: State = "hello";
  #hello: ClientHello | undefined;
  #profile: SrtpProfileNumber | undefined;
  #clientCertificate: X509Certificate | undefined;
  /** Messages of `clientFlight` that have come. */
  #taken = 0;
  #master: Buffer | undefined;
  /** All messages so far. */
  #handshake: Buffer[] = [];
  #reads: RecordCipher | undefined;
  #writes: RecordCipher | undefined;
  #sequences: [number, number] = [0, 0];
  #messageSequence = 0;
  /** What was sent last, with the epoch of each record: sent again where it may have been lost. */
  #flight: readonly (readonly [type: number, epoch: 0 | 1, fragment: Buffer])[] = [];
  /** The client repeats what our flight has answered: it is sent again, once for a datagram. */
  #isAnswerMissing = false;
  #retransmitMs = firstRetransmitMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DtlsServerOptions) {
    this.#options = options;
    this.#ecdh.generateKeys();
  }

  /** Never throws: what is no DTLS is passed over, a wrong handshake ends it. */
  receive(datagram: Buffer): void {
    if (this.#isEnded()) return;
    this.#isAnswerMissing = false;
    try {
      for (const record of parseRecords(datagram)) {
        this.#record(record);
        if (this.#isEnded()) return;
      }
      if (this.#isAnswerMissing) this.#sendFlight();
    } catch (error) {
      this.#fail(errorText(error), error instanceof HandshakeError ? error.alert : alerts.handshakeFailure);
    }
  }

  /** It may have been ended by what was received. */
  #isEnded(): boolean {
    return this.#state === "ended";
  }

  /** Tells the client that it is over. */
  close(): void {
    if (this.#state === "ended") return;
    if (this.#writes) this.#sendRecord(contentTypes.alert, 1, Buffer.from([1, alerts.closeNotify]));
    this.#stop();
  }

  #stop(): void {
    this.#state = "ended";
    clearTimeout(this.#timer);
  }

  #fail(reason: string, alert: number): void {
    if (this.#state === "ended") return;
    this.#sendRecord(contentTypes.alert, this.#writes && this.#state === "connected" ? 1 : 0, Buffer.from([2, alert]));
    this.#stop();
    this.#options.onEnd(reason, "server");
  }

  #record(record: DtlsRecord): void {
    // A record of the second epoch that overtakes the keys comes again.
    const fragment = record.epoch === 0 ? record.fragment : record.epoch === 1 ? this.#reads?.open(record) : undefined;
    if (!fragment) return;
    if (record.type === contentTypes.alert) this.#alert(record.epoch, fragment);
    else if (record.type === contentTypes.handshake) this.#handshakeRecord(record.epoch, fragment);
  }

  #alert(epoch: number, fragment: Buffer): void {
    const [level, number] = fragment;
    // Behind the handshake only what is encrypted comes from the client.
    if (this.#state === "connected" && epoch === 0) return;
    if (number === alerts.closeNotify && epoch === 1) {
      this.#stop();
      this.#options.onEnd("the client has closed it", "client");
    } else if (level === 2) {
      this.#stop();
      this.#options.onEnd(`DTLS: the client sent alert ${number}`, "client");
    }
  }

  #handshakeRecord(epoch: number, fragment: Buffer): void {
    // RFC 6347 §4.1.2.7: anybody can send what is not encrypted. A client that has not got our Finished repeats its own, too.
    if (this.#state === "connected" && epoch === 0) return;
    const repeated = this.#reader.push(fragment, epoch);
    // The last of a flight.
    if (repeated === handshakeTypes.clientHello || repeated === handshakeTypes.finished) this.#isAnswerMissing = true;
    for (let message = this.#reader.take(); message; message = this.#reader.take()) this.#message(message);
  }

  #message(message: HandshakeMessage): void {
    const { type, body, bytes } = message;
    if (this.#state === "hello" && type === handshakeTypes.clientHello) {
      this.#handshake.push(bytes);
      this.#answerHello(readClientHello(body));
      return;
    }
    if (this.#state !== "client-flight" || type !== clientFlight[this.#taken]) throw unexpected(type);
    this.#taken++;
    switch (type) {
      case handshakeTypes.certificate: {
        this.#handshake.push(bytes);
        const certificate = readCertificate(body);
        if (!certificate) throw new HandshakeError("the client has no certificate", alerts.badCertificate);
        this.#checkFingerprint(certificate);
        this.#clientCertificate = new X509Certificate(certificate);
        return;
      }
      case handshakeTypes.clientKeyExchange:
        this.#handshake.push(bytes);
        this.#deriveKeys(readClientKeyExchange(body));
        return;
      case handshakeTypes.certificateVerify:
        this.#verifyCertificate(body);
        this.#handshake.push(bytes);
        return;
      case handshakeTypes.finished:
        this.#finish(message);
        return;
      default:
        throw unexpected(type);
    }
  }

  #answerHello(hello: ClientHello): void {
    const { cipherSuites, groups, srtpProfiles: offered } = hello;
    if (!cipherSuites.includes(cipherSuite))
      throw new HandshakeError("the client does not offer ECDHE-ECDSA-AES128-GCM-SHA256", alerts.handshakeFailure);
    if (groups.length > 0 && !groups.includes(group)) throw new HandshakeError("the client does not offer P-256", alerts.handshakeFailure);
    const profile = ([7, 1] as const).find((number) => offered.includes(number));
    if (!profile) throw new HandshakeError("the client offers no SRTP profile that is known here", alerts.handshakeFailure);
    this.#hello = hello;
    this.#profile = profile;
    const point = this.#ecdh.getPublicKey();
    const parameters = Buffer.concat([Buffer.from([3]), uint16(group), vector(1, point)]);
    const { certificate } = this.#options;
    const signature = sign("sha256", Buffer.concat([hello.random, this.#serverRandom, parameters]), certificate.key);
    const extension = (type: number, value: Buffer) => Buffer.concat([uint16(type), vector(2, value)]);
    const messages: readonly (readonly [type: number, body: Buffer])[] = [
      [
        handshakeTypes.serverHello,
        Buffer.concat([
          ...[uint16(dtls12), this.#serverRandom, vector(1), uint16(cipherSuite), Buffer.from([0])],
          vector(
            2,
            extension(extensions.renegotiationInfo, vector(1)),
            ...(hello.hasExtendedMasterSecret ? [extension(extensions.extendedMasterSecret, Buffer.alloc(0))] : []),
            ...(hello.hasPointFormats ? [extension(extensions.pointFormats, Buffer.from([1, 0]))] : []),
            extension(extensions.useSrtp, Buffer.concat([vector(2, uint16(profile)), vector(1)])),
          ),
        ]),
      ],
      [handshakeTypes.certificate, vector(3, vector(3, certificate.der))],
      [handshakeTypes.serverKeyExchange, Buffer.concat([parameters, uint16(ecdsaSha256), vector(2, signature)])],
      [
        handshakeTypes.certificateRequest,
        Buffer.concat([
          vector(1, Buffer.from([ecdsaSigning, rsaSigning])),
          vector(2, ...Object.keys(signatureAlgorithms).map((number) => uint16(Number(number)))),
          vector(2),
        ]),
      ],
      [handshakeTypes.serverHelloDone, Buffer.alloc(0)],
    ];
    this.#flight = messages.map(([type, body]) => [contentTypes.handshake, 0, this.#write(type, body)] as const);
    this.#state = "client-flight";
    this.#sendFlight();
    this.#retransmitLater();
  }

  /** Numbers a message, and adds it to the handshake. */
  #write(type: number, body: Buffer): Buffer {
    const { bytes } = writeMessage(type, this.#messageSequence++, body);
    this.#handshake.push(bytes);
    return bytes;
  }

  #checkFingerprint(der: Buffer): void {
    const isKnown = this.#options.fingerprints.some(({ algorithm, value }) => {
      const hash = hashNames[algorithm.toLowerCase()];
      return hash !== undefined && createHash(hash).update(der).digest("hex") === value.replaceAll(":", "").toLowerCase();
    });
    if (!isKnown) throw new HandshakeError("the client's certificate is not the one of its offer", alerts.badCertificate);
  }

  #deriveKeys(point: Buffer): void {
    const hello = this.#hello as ClientHello;
    let premaster: Buffer;
    try {
      premaster = this.#ecdh.computeSecret(point);
    } catch {
      throw new HandshakeError("the client's key is no point of P-256", alerts.decodeError);
    }
    const sessionHash = hello.hasExtendedMasterSecret ? sha256(Buffer.concat(this.#handshake)) : undefined;
    this.#master = masterSecret({ premaster, clientRandom: hello.random, serverRandom: this.#serverRandom, sessionHash });
    const keys = recordKeys(this.#master, hello.random, this.#serverRandom);
    this.#reads = new RecordCipher(keys.client.key, keys.client.salt);
    this.#writes = new RecordCipher(keys.server.key, keys.server.salt);
  }

  /** RFC 5246 §7.4.8: that the client has the key of its certificate. */
  #verifyCertificate(body: Buffer): void {
    const { algorithm, signature } = readCertificateVerify(body);
    const known = signatureAlgorithms[algorithm];
    const certificate = this.#clientCertificate;
    if (!known || !certificate) throw new HandshakeError("the client's signature cannot be verified", alerts.decryptError);
    const key: VerifyKeyObjectInput = { key: certificate.publicKey, ...known.options };
    const isRight =
      certificate.publicKey.asymmetricKeyType === known.keyType && verify(known.hash, Buffer.concat(this.#handshake), key, signature);
    if (!isRight) throw new HandshakeError("the client's signature is wrong", alerts.decryptError);
  }

  #finish({ body, bytes }: HandshakeMessage): void {
    const master = this.#master as Buffer;
    const { random } = this.#hello as ClientHello;
    const expected = finishedData(master, "client", Buffer.concat(this.#handshake));
    if (body.length !== expected.length || !timingSafeEqual(body, expected))
      throw new HandshakeError("the client's Finished is wrong", alerts.decryptError);
    this.#handshake.push(bytes);
    const finished = finishedData(master, "server", Buffer.concat(this.#handshake));
    this.#flight = [
      [contentTypes.changeCipherSpec, 0, Buffer.from([1])],
      [contentTypes.handshake, 1, this.#write(handshakeTypes.finished, finished)],
    ];
    this.#handshake = [];
    clearTimeout(this.#timer);
    this.#state = "connected";
    this.#sendFlight();
    const profile = this.#profile as SrtpProfileNumber;
    const { keyBytes, saltBytes } = srtpProfiles[profile];
    const { client, server } = exportSrtpKeys(master, random, this.#serverRandom, keyBytes, saltBytes);
    this.#options.onConnected({ profile, sending: server, receiving: client });
  }

  /** Records have new numbers each time (RFC 6347 §4.2.4). */
  #sendFlight(): void {
    let datagram: Buffer[] = [];
    let bytes = 0;
    for (const [type, epoch, fragment] of this.#flight) {
      const record = this.#seal(type, epoch, fragment);
      if (bytes > 0 && bytes + record.length > datagramBytes) {
        this.#options.send(Buffer.concat(datagram));
        datagram = [];
        bytes = 0;
      }
      datagram.push(record);
      bytes += record.length;
    }
    if (bytes > 0) this.#options.send(Buffer.concat(datagram));
  }

  #sendRecord(type: number, epoch: 0 | 1, fragment: Buffer): void {
    this.#options.send(this.#seal(type, epoch, fragment));
  }

  #seal(type: number, epoch: 0 | 1, fragment: Buffer): Buffer {
    const number = recordNumber(epoch, this.#sequences[epoch]++);
    return writeRecord(type, number, epoch === 1 && this.#writes ? this.#writes.seal(type, number, fragment) : fragment);
  }

  #retransmitLater(): void {
    this.#timer = setTimeout(() => {
      this.#sendFlight();
      this.#retransmitMs = Math.min(longestRetransmitMs, 2 * this.#retransmitMs);
      this.#retransmitLater();
    }, this.#retransmitMs);
  }
}

const unexpected = (type: number) => new HandshakeError(`a message of the type ${type} was not expected`, 10);

interface SignatureAlgorithm {
  readonly hash: string;
  readonly keyType: "ec" | "rsa";
  readonly options?: Pick<VerifyKeyObjectInput, "padding" | "saltLength">;
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** RFC 5246 §7.4.1.4.1 and RFC 8446 §4.2.3, in the order in which they are wanted. */
const signatureAlgorithms: Readonly<Record<number, SignatureAlgorithm>> = {
  [ecdsaSha256]: { hash: "sha256", keyType: "ec" },
  1283: { hash: "sha384", keyType: "ec" },
  2052: { hash: "sha256", keyType: "rsa", options: pss },
  1025: { hash: "sha256", keyType: "rsa" },
  1281: { hash: "sha384", keyType: "rsa" },
};

/** RFC 8122 §5 */
const hashNames: Readonly<Record<string, string>> = { "sha-1": "sha1", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512" };
