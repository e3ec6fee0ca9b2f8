import { createECDH, randomBytes, sign } from "node:crypto";
import type { DtlsCertificate } from "../../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { exportSrtpKeys, finishedData, masterSecret, recordKeys, sha256 } from "../../../servers/webrtc/media/dtls/dtls-keys.ts";
import { contentTypes, parseRecords, RecordCipher, recordNumber, writeRecord } from "../../../servers/webrtc/media/dtls/dtls-record.ts";
import {
  alerts,
  extensions,
  type HandshakeMessage,
  HandshakeReader,
  handshakeTypes,
  uint16,
  vector,
  writeMessage,
} from "../../../servers/webrtc/media/dtls/handshake-message.ts";
import { SrtpReceiver, SrtpSender, srtpProfiles } from "../../../servers/webrtc/media/transport/srtp-context.ts";

export interface Srtp {
  readonly sender: SrtpSender;
  readonly receiver: SrtpReceiver;
}

export interface DtlsClientOptions {
  readonly certificate: DtlsCertificate;
  readonly send: (datagram: Buffer) => void;
  readonly onConnected: (srtp: Srtp) => void;
  /** The server has said so. */
  readonly onClosed: () => void;
}

const profile = 7;
const dtls12 = 0xfefd;

/** The active side of DTLS 1.2 for SRTP, as far as the service's passive side needs it. */
export class DtlsClient {
  readonly #options: DtlsClientOptions;
  readonly #random = randomBytes(32);
  readonly #ecdh = createECDH("prime256v1");
  readonly #reader = new HandshakeReader();
  readonly #handshake: Buffer[] = [];
  readonly #numbers: [number, number] = [0, 0];
  #serverRandom = Buffer.alloc(0);
  #serverPoint = Buffer.alloc(0);
  #master: Buffer = Buffer.alloc(0);
  #messages = 0;
  #reads: RecordCipher | undefined;
  #writes: RecordCipher | undefined;
  #flight: readonly (readonly [type: number, epoch: 0 | 1, fragment: Buffer])[] = [];
  #isConnected = false;

  constructor(options: DtlsClientOptions) {
    this.#options = options;
    const extension = (type: number, ...value: readonly Buffer[]) => Buffer.concat([uint16(type), vector(2, ...value)]);
    const hello = Buffer.concat([
      ...[uint16(dtls12), this.#random, vector(1), vector(1), vector(2, uint16(0xc02b)), vector(1, Buffer.from([0]))],
      vector(
        2,
        extension(extensions.supportedGroups, vector(2, uint16(23))),
        extension(extensions.useSrtp, vector(2, uint16(profile)), vector(1)),
        extension(extensions.extendedMasterSecret),
      ),
    ]);
    this.#flight = [this.#write(handshakeTypes.clientHello, hello)];
  }

  /** What was sent last, until there is an answer. */
  sendFlight(): void {
    if (this.#isConnected) return;
    for (const [type, epoch, fragment] of this.#flight) this.#send(type, epoch, fragment);
  }

  close(): void {
    if (this.#writes) this.#send(contentTypes.alert, 1, Buffer.from([1, alerts.closeNotify]));
  }

  receive(datagram: Buffer): void {
    for (const record of parseRecords(datagram)) {
      const fragment = record.epoch === 0 ? record.fragment : this.#reads?.open(record);
      if (fragment && record.type === contentTypes.alert) this.#options.onClosed();
      if (!fragment || record.type !== contentTypes.handshake) continue;
      this.#reader.push(fragment, record.epoch);
      for (let message = this.#reader.take(); message; message = this.#reader.take()) this.#take(message);
    }
  }

  #take({ type, body, bytes }: HandshakeMessage): void {
    if (type === handshakeTypes.finished) {
      if (!body.equals(finishedData(this.#master, "server", Buffer.concat(this.#handshake))))
        throw new Error("the server's Finished is wrong");
      this.#isConnected = true;
      const { keyBytes, saltBytes } = srtpProfiles[profile];
      const { client, server } = exportSrtpKeys(this.#master, this.#random, this.#serverRandom, keyBytes, saltBytes);
      this.#options.onConnected({ sender: new SrtpSender(profile, client), receiver: new SrtpReceiver(profile, server) });
      return;
    }
    this.#handshake.push(bytes);
    if (type === handshakeTypes.serverHello) this.#serverRandom = Buffer.from(body.subarray(2, 34));
    // The type of the curve, the curve, and the point behind its length.
    else if (type === handshakeTypes.serverKeyExchange) this.#serverPoint = Buffer.from(body.subarray(4, 4 + (body[3] as number)));
    else if (type === handshakeTypes.serverHelloDone) this.#answer();
  }

  #answer(): void {
    const { certificate } = this.#options;
    const point = this.#ecdh.generateKeys();
    const shown = this.#write(handshakeTypes.certificate, vector(3, vector(3, certificate.der)));
    const exchange = this.#write(handshakeTypes.clientKeyExchange, vector(1, point));
    const seen = Buffer.concat(this.#handshake);
    const premaster = this.#ecdh.computeSecret(this.#serverPoint);
    this.#master = masterSecret({ premaster, clientRandom: this.#random, serverRandom: this.#serverRandom, sessionHash: sha256(seen) });
    const keys = recordKeys(this.#master, this.#random, this.#serverRandom);
    this.#writes = new RecordCipher(keys.client.key, keys.client.salt);
    this.#reads = new RecordCipher(keys.server.key, keys.server.salt);
    const signature = sign("sha256", seen, certificate.key);
    const verify = this.#write(handshakeTypes.certificateVerify, Buffer.concat([uint16(0x0403), vector(2, signature)]));
    const finished = this.#write(handshakeTypes.finished, finishedData(this.#master, "client", Buffer.concat(this.#handshake)));
    this.#flight = [shown, exchange, verify, [contentTypes.changeCipherSpec, 0, Buffer.from([1])], [finished[0], 1, finished[2]]];
    this.sendFlight();
  }

  #write(type: number, body: Buffer): readonly [number, 0, Buffer] {
    const { bytes } = writeMessage(type, this.#messages++, body);
    this.#handshake.push(bytes);
    return [contentTypes.handshake, 0, bytes];
  }

  #send(type: number, epoch: 0 | 1, fragment: Buffer): void {
    const number = recordNumber(epoch, this.#numbers[epoch]++);
    this.#options.send(writeRecord(type, number, epoch === 1 && this.#writes ? this.#writes.seal(type, number, fragment) : fragment));
  }
}
