import { createECDH, randomBytes, sign, timingSafeEqual, type X509Certificate } from "node:crypto";
import { type SrtpProfileNumber, srtpProfiles } from "../transport/srtp-context.ts";
import { DtlsConnection, unexpected } from "./dtls-connection.ts";
import { exportSrtpKeys, finishedData, masterSecret, recordKeys, sha256 } from "./dtls-keys.ts";
import { contentTypes, dtls12, RecordCipher } from "./dtls-record.ts";
import { type DtlsOptions, type DtlsSide, ecdsaSuite, p256, uncompressed, wantedProfiles } from "./dtls-side.ts";
import {
  alerts,
  type ClientHello,
  extensions,
  HandshakeError,
  type HandshakeMessage,
  handshakeTypes,
  namedCurve,
  readCertificate,
  readCertificateVerify,
  readClientHello,
  readClientKeyExchange,
  uint16,
  vector,
  writeExtension,
} from "./handshake-message.ts";
import { checkSignature, ecdsaSha256, knownSignatures, peerCertificate } from "./peer-certificate.ts";

const rsaSigning = 1;
const ecdsaSigning = 64;

/** What a client sends behind our ServerHelloDone, each once and in this order (RFC 5246 §7.3). */
const clientFlight: readonly number[] = [
  handshakeTypes.certificate,
  handshakeTypes.clientKeyExchange,
  handshakeTypes.certificateVerify,
  handshakeTypes.finished,
];

/** The passive side. Without a cookie: the client's address has been verified by ICE. */
export class DtlsServer implements DtlsSide {
  readonly #options: DtlsOptions;
  readonly #connection: DtlsConnection;
  readonly #random = randomBytes(32);
  readonly #ecdh = createECDH("prime256v1");
  #hello: ClientHello | undefined;
  #profile: SrtpProfileNumber | undefined;
  #clientCertificate: X509Certificate | undefined;
  /** Messages of `clientFlight` that have come. */
  #taken = 0;
  #master: Buffer | undefined;

  constructor(options: DtlsOptions) {
    this.#options = options;
    this.#connection = new DtlsConnection({
      send: options.send,
      onEnd: options.onEnd,
      onMessage: (message) => this.#message(message),
      lastOfFlights: [handshakeTypes.clientHello, handshakeTypes.finished],
    });
  }

  /** The client begins. */
  start(): void {}

  receive(datagram: Buffer): void {
    this.#connection.receive(datagram);
  }

  close(): void {
    this.#connection.close();
  }

  #message(message: HandshakeMessage): void {
    const { type, body } = message;
    if (!this.#hello && type === handshakeTypes.clientHello) {
      this.#connection.heard(message);
      this.#answerHello(readClientHello(body));
      return;
    }
    if (!this.#hello || type !== clientFlight[this.#taken]) throw unexpected(type);
    this.#taken++;
    switch (type) {
      case handshakeTypes.certificate:
        this.#clientCertificate = peerCertificate(readCertificate(body), this.#options.fingerprints);
        this.#connection.heard(message);
        return;
      case handshakeTypes.clientKeyExchange:
        this.#connection.heard(message);
        this.#deriveKeys(this.#hello, readClientKeyExchange(body));
        return;
      case handshakeTypes.certificateVerify:
        // RFC 5246 §7.4.8
        checkSignature(this.#clientCertificate, readCertificateVerify(body), this.#connection.transcript());
        this.#connection.heard(message);
        return;
      case handshakeTypes.finished:
        this.#finish(this.#hello, message);
        return;
      default:
        throw unexpected(type);
    }
  }

  #answerHello(hello: ClientHello): void {
    const { cipherSuites, groups, srtpProfiles: offered } = hello;
    if (!cipherSuites.includes(ecdsaSuite))
      throw new HandshakeError("the client does not offer ECDHE-ECDSA-AES128-GCM-SHA256", alerts.handshakeFailure);
    if (groups.length > 0 && !groups.includes(p256)) throw new HandshakeError("the client does not offer P-256", alerts.handshakeFailure);
    const profile = wantedProfiles.find((number) => offered.includes(number));
    if (!profile) throw new HandshakeError("the client offers no SRTP profile that is known here", alerts.handshakeFailure);
    this.#hello = hello;
    this.#profile = profile;
    // Not before: many offers never connect.
    const point = this.#ecdh.generateKeys();
    const parameters = Buffer.concat([Buffer.from([namedCurve]), uint16(p256), vector(1, point)]);
    const { certificate } = this.#options;
    const signature = sign("sha256", Buffer.concat([hello.random, this.#random, parameters]), certificate.key);
    const messages: readonly (readonly [type: number, body: Buffer])[] = [
      [
        handshakeTypes.serverHello,
        Buffer.concat([
          ...[uint16(dtls12), this.#random, vector(1), uint16(ecdsaSuite), Buffer.from([uncompressed])],
          vector(
            2,
            writeExtension(extensions.renegotiationInfo, vector(1)),
            ...(hello.hasExtendedMasterSecret ? [writeExtension(extensions.extendedMasterSecret)] : []),
            ...(hello.hasPointFormats ? [writeExtension(extensions.pointFormats, Buffer.from([1, 0]))] : []),
            writeExtension(extensions.useSrtp, vector(2, uint16(profile)), vector(1)),
          ),
        ]),
      ],
      [handshakeTypes.certificate, vector(3, vector(3, certificate.der))],
      [handshakeTypes.serverKeyExchange, Buffer.concat([parameters, uint16(ecdsaSha256), vector(2, signature)])],
      [
        handshakeTypes.certificateRequest,
        Buffer.concat([vector(1, Buffer.from([ecdsaSigning, rsaSigning])), vector(2, ...knownSignatures.map(uint16)), vector(2)]),
      ],
      [handshakeTypes.serverHelloDone, Buffer.alloc(0)],
    ];
    this.#connection.sendFlight(messages.map(([type, body]) => this.#connection.write(type, body)));
  }

  #deriveKeys(hello: ClientHello, point: Buffer): void {
    let premaster: Buffer;
    try {
      premaster = this.#ecdh.computeSecret(point);
    } catch {
      throw new HandshakeError("the client's key is no point of P-256", alerts.decodeError);
    }
    const sessionHash = hello.hasExtendedMasterSecret ? sha256(this.#connection.transcript()) : undefined;
    this.#master = masterSecret({ premaster, clientRandom: hello.random, serverRandom: this.#random, sessionHash });
    const { client, server } = recordKeys(this.#master, hello.random, this.#random);
    this.#connection.useKeys({ reads: new RecordCipher(client.key, client.salt), writes: new RecordCipher(server.key, server.salt) });
  }

  #finish({ random }: ClientHello, message: HandshakeMessage): void {
    const master = this.#master as Buffer;
    const connection = this.#connection;
    const expected = finishedData(master, "client", connection.transcript());
    if (message.body.length !== expected.length || !timingSafeEqual(message.body, expected))
      throw new HandshakeError("the client's Finished is wrong", alerts.decryptError);
    connection.heard(message);
    const finished = finishedData(master, "server", connection.transcript());
    connection.complete([[contentTypes.changeCipherSpec, 0, Buffer.from([1])], connection.write(handshakeTypes.finished, finished, 1)]);
    const profile = this.#profile as SrtpProfileNumber;
    const { keyBytes, saltBytes } = srtpProfiles[profile];
    const { client, server } = exportSrtpKeys(master, random, this.#random, keyBytes, saltBytes);
    this.#options.onConnected({ profile, sending: server, receiving: client });
  }
}
