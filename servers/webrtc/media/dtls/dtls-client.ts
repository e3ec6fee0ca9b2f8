import { createECDH, randomBytes, sign, timingSafeEqual, type X509Certificate } from "node:crypto";
import { type SrtpProfileNumber, srtpProfiles } from "../transport/srtp-context.ts";
import { DtlsConnection, unexpected } from "./dtls-connection.ts";
import { exportSrtpKeys, finishedData, masterSecret, recordKeys, sha256 } from "./dtls-keys.ts";
import { contentTypes, dtls12, RecordCipher } from "./dtls-record.ts";
import { type DtlsOptions, type DtlsSide, ecdsaSuite, p256, uncompressed, wantedProfiles } from "./dtls-side.ts";
import {
  alerts,
  extensions,
  HandshakeError,
  type HandshakeMessage,
  handshakeTypes,
  readCertificate,
  readCertificateRequest,
  readHelloVerifyRequest,
  readServerHello,
  readServerKeyExchange,
  type ServerHello,
  uint16,
  vector,
  writeExtension,
} from "./handshake-message.ts";
import { checkSignature, ecdsaSha256, knownSignatures, peerCertificate } from "./peer-certificate.ts";

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: for servers whose certificate has a key of RSA, such as those of GStreamer. */
const rsaSuite = 0xc02f;

/** The active side: for offers with a=setup:passive (RFC 8842 §5.3), such as those of ffmpeg. */
export class DtlsClient implements DtlsSide {
  readonly #options: DtlsOptions;
  readonly #connection: DtlsConnection;
  readonly #random = randomBytes(32);
  readonly #ecdh = createECDH("prime256v1");
  #isStarted = false;
  /** Types of the messages one of which comes next. */
  #expected: readonly number[] = [];
  #hello: ServerHello | undefined;
  #serverCertificate: X509Certificate | undefined;
  #serverPoint: Buffer | undefined;
  #isCertificateWanted = false;
  #master: Buffer | undefined;

  constructor(options: DtlsOptions) {
    this.#options = options;
    this.#connection = new DtlsConnection({
      send: options.send,
      onEnd: options.onEnd,
      onMessage: (message) => this.#message(message),
      lastOfFlights: [handshakeTypes.helloVerifyRequest, handshakeTypes.serverHelloDone],
    });
    this.#ecdh.generateKeys();
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#expected = [handshakeTypes.helloVerifyRequest, handshakeTypes.serverHello];
    this.#sendHello(Buffer.alloc(0));
  }

  receive(datagram: Buffer): void {
    this.#connection.receive(datagram);
  }

  close(): void {
    this.#connection.close();
  }

  #sendHello(cookie: Buffer): void {
    const suites = vector(2, uint16(ecdsaSuite), uint16(rsaSuite));
    const hello = Buffer.concat([
      ...[uint16(dtls12), this.#random, vector(1), vector(1, cookie), suites, vector(1, Buffer.from([uncompressed]))],
      vector(
        2,
        writeExtension(extensions.renegotiationInfo, vector(1)),
        writeExtension(extensions.supportedGroups, vector(2, uint16(p256))),
        writeExtension(extensions.pointFormats, vector(1, Buffer.from([0]))),
        writeExtension(extensions.signatureAlgorithms, vector(2, ...knownSignatures.map(uint16))),
        writeExtension(extensions.useSrtp, vector(2, ...wantedProfiles.map(uint16)), vector(1)),
        writeExtension(extensions.extendedMasterSecret),
      ),
    ]);
    this.#connection.sendFlight([this.#connection.write(handshakeTypes.clientHello, hello)]);
  }

  #message(message: HandshakeMessage): void {
    const { type, body } = message;
    if (!this.#expected.includes(type)) throw unexpected(type);
    switch (type) {
      case handshakeTypes.helloVerifyRequest: {
        const cookie = readHelloVerifyRequest(body);
        this.#connection.forgetTranscript();
        this.#expected = [handshakeTypes.serverHello];
        this.#sendHello(cookie);
        return;
      }
      case handshakeTypes.serverHello:
        this.#hello = checkedHello(readServerHello(body));
        this.#expected = [handshakeTypes.certificate];
        break;
      case handshakeTypes.certificate:
        this.#serverCertificate = peerCertificate(readCertificate(body), this.#options.fingerprints);
        this.#expected = [handshakeTypes.serverKeyExchange];
        break;
      case handshakeTypes.serverKeyExchange:
        this.#serverPoint = this.#checkedPoint(this.#hello as ServerHello, body);
        this.#expected = [handshakeTypes.certificateRequest, handshakeTypes.serverHelloDone];
        break;
      case handshakeTypes.certificateRequest:
        if (!readCertificateRequest(body).includes(ecdsaSha256))
          throw new HandshakeError("the client takes no signature by ECDSA with SHA-256", alerts.handshakeFailure);
        this.#isCertificateWanted = true;
        this.#expected = [handshakeTypes.serverHelloDone];
        break;
      case handshakeTypes.serverHelloDone:
        this.#expected = [handshakeTypes.finished];
        this.#connection.heard(message);
        this.#answer(this.#hello as ServerHello, this.#serverPoint as Buffer);
        return;
      case handshakeTypes.finished:
        this.#finish(this.#hello as ServerHello, message);
        return;
      default:
        throw unexpected(type);
    }
    this.#connection.heard(message);
  }

  /** The point of the server's key, which it has signed (RFC 8422 §5.4). */
  #checkedPoint({ random }: ServerHello, body: Buffer): Buffer {
    const { group, point, parameters, algorithm, signature } = readServerKeyExchange(body);
    if (group !== p256) throw new HandshakeError("the client has not chosen P-256", alerts.illegalParameter);
    checkSignature(this.#serverCertificate, { algorithm, signature }, Buffer.concat([this.#random, random, parameters]));
    return Buffer.from(point);
  }

  #answer(hello: ServerHello, serverPoint: Buffer): void {
    const connection = this.#connection;
    const { certificate } = this.#options;
    const shown = this.#isCertificateWanted ? [connection.write(handshakeTypes.certificate, vector(3, vector(3, certificate.der)))] : [];
    const exchange = connection.write(handshakeTypes.clientKeyExchange, vector(1, this.#ecdh.getPublicKey()));
    const master = this.#deriveKeys(hello, serverPoint);
    const proof = () => {
      const signature = sign("sha256", connection.transcript(), certificate.key);
      return connection.write(handshakeTypes.certificateVerify, Buffer.concat([uint16(ecdsaSha256), vector(2, signature)]));
    };
    const proven = this.#isCertificateWanted ? [proof()] : [];
    const finished = connection.write(handshakeTypes.finished, finishedData(master, "client", connection.transcript()), 1);
    connection.sendFlight([...shown, exchange, ...proven, [contentTypes.changeCipherSpec, 0, Buffer.from([1])], finished]);
  }

  #deriveKeys({ random, hasExtendedMasterSecret }: ServerHello, serverPoint: Buffer): Buffer {
    const connection = this.#connection;
    let premaster: Buffer;
    try {
      premaster = this.#ecdh.computeSecret(serverPoint);
    } catch {
      throw new HandshakeError("the client's key is no point of P-256", alerts.illegalParameter);
    }
    const sessionHash = hasExtendedMasterSecret ? sha256(connection.transcript()) : undefined;
    const master = masterSecret({ premaster, clientRandom: this.#random, serverRandom: random, sessionHash });
    this.#master = master;
    const { client, server } = recordKeys(master, this.#random, random);
    connection.useKeys({ reads: new RecordCipher(server.key, server.salt), writes: new RecordCipher(client.key, client.salt) });
    return master;
  }

  #finish({ random, srtpProfile }: ServerHello, { body }: HandshakeMessage): void {
    const master = this.#master as Buffer;
    const expected = finishedData(master, "server", this.#connection.transcript());
    if (body.length !== expected.length || !timingSafeEqual(body, expected))
      throw new HandshakeError("the client's Finished is wrong", alerts.decryptError);
    this.#expected = [];
    this.#connection.complete();
    const profile = srtpProfile as SrtpProfileNumber;
    const { keyBytes, saltBytes } = srtpProfiles[profile];
    const { client, server } = exportSrtpKeys(master, this.#random, random, keyBytes, saltBytes);
    this.#options.onConnected({ profile, sending: client, receiving: server });
  }
}

/** That the server has chosen what was offered. */
function checkedHello(hello: ServerHello): ServerHello {
  const { version, cipherSuite, compression, srtpProfile } = hello;
  if (version !== dtls12) throw new HandshakeError("the client has not chosen DTLS 1.2", alerts.illegalParameter);
  if ((cipherSuite !== ecdsaSuite && cipherSuite !== rsaSuite) || compression !== uncompressed)
    throw new HandshakeError("the client has chosen a cipher suite that was not offered", alerts.illegalParameter);
  if (!wantedProfiles.some((profile) => profile === srtpProfile))
    throw new HandshakeError("the client has chosen no SRTP profile that was offered", alerts.illegalParameter);
  return hello;
}
