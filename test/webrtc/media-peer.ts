import { randomBytes } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { parseRtcp, type RtcpPacket, writeRtcp } from "../../servers/core/rtp/rtcp.ts";
import { isRtcp, parseRtpPacket, type RtpPacket, sequenceDistance } from "../../servers/core/rtp/rtp-packet.ts";
import { createDtlsCertificate, type DtlsCertificate } from "../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { isStun, magicCookie, parseStun } from "../../servers/webrtc/stun/stun-message.ts";
import { uint32, type WrittenAttribute, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { until } from "../support/until.ts";
import { DtlsClient, type Srtp } from "./dtls/dtls-client.ts";
import { type MediaServer, playerOffer, publisherOffer } from "./media-offers.ts";

/** RFC 8445 §16.1 */
const ice = { priority: 0x0024, useCandidate: 0x0025, controlling: 0x802a } as const;
const tickMs = 500;
/** RFC 8445 §14.3: no sooner than 500 ms, which is far longer than a path on one computer needs. */
const repeatMs = 250;
const videoType = 102;

interface Credentials {
  readonly ufrag: string;
  readonly pwd: string;
}

/** What has come of one track; the packets are not decrypted unless somebody asks for them. */
export class ReceivedPackets {
  packets = 0;
  ssrc = 0;
  #first = 0;
  #ahead = 0;

  add({ sequence, ssrc }: RtpPacket): void {
    if (this.packets === 0) this.#first = sequence;
    this.ssrc = ssrc;
    const highest = (this.#first + this.#ahead) & 0xffff;
    this.#ahead = Math.max(this.#ahead, this.#ahead + sequenceDistance(sequence, highest));
    this.packets++;
  }

  /** Of its sequence numbers from the first on; packets that come twice count against it. */
  get missing(): number {
    return this.packets === 0 ? 0 : this.#ahead + 1 - this.packets;
  }
}

let certificate: Promise<DtlsCertificate> | undefined;

/** A light client of WHEP and WHIP in this process: checks of ICE, DTLS and SRTP over one socket, all of it released after the test. */
export class MediaPeer {
  readonly url: string;
  readonly etag: string;
  readonly answer: string;
  /** Tracks that the answer leaves out, and why. */
  readonly leftOut: string;
  readonly video = new ReceivedPackets();
  readonly audio = new ReceivedPackets();
  readonly rtcp: RtcpPacket[] = [];
  /** Decrypted. */
  onRtp: ((packet: Buffer) => void) | undefined;
  srtp: Srtp | undefined;
  /** Checks that were answered. */
  answers = 0;
  readonly #answered = new Set<string>();
  readonly #asking = new Map<string, () => void>();
  isClosed = false;
  socket: Socket;
  /** Undefined where the handshake is the caller's. */
  readonly #dtls: DtlsClient | undefined;
  readonly #timer: NodeJS.Timeout;
  /** Of the service. */
  readonly port: number;
  #credentials: Credentials;
  /** Of its socket. */
  ownPort = 0;
  #sequence = 1;

  private constructor(server: MediaServer, socket: Socket, shown: DtlsCertificate | undefined, response: Response, answer: string) {
    this.socket = socket;
    this.answer = answer;
    this.url = `${server.url}${response.headers.get("location")}`;
    this.leftOut = response.headers.get("x-left-out") ?? "";
    this.etag = response.headers.get("etag") ?? "";
    this.#credentials = credentialsIn(answer);
    this.port = Number(/a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 (\d+)/.exec(answer)?.[1]);
    this.#dtls =
      shown &&
      new DtlsClient({
        certificate: shown,
        send: (datagram) => this.send(datagram),
        onConnected: (srtp) => {
          this.srtp = srtp;
        },
        onClosed: () => {
          this.isClosed = true;
        },
      });
    this.#listen();
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), tickMs);
    server.onEnd(() => this.vanish());
  }

  /** Sends from this address of the computer. */
  static async open(server: MediaServer, path: string, offer: string, from?: string): Promise<MediaPeer> {
    certificate ??= createDtlsCertificate();
    const shown = await certificate;
    const { fingerprint } = shown;
    const [response, answer] = await accepted(server, path, offer.replaceAll(/a=fingerprint:.*/g, `a=fingerprint:sha-256 ${fingerprint}`));
    return new MediaPeer(server, await boundSocket(from), shown, response, answer);
  }

  /** Resolves when a check was answered: datagrams of this peer reach DTLS from now on, and there is no handshake but the caller's. */
  static async reach(server: MediaServer, path: string, offer: string): Promise<MediaPeer> {
    const peer = new MediaPeer(server, await boundSocket(), undefined, ...(await accepted(server, path, offer)));
    await peer.ask();
    return peer;
  }

  /** Resolves when it is connected. */
  static async play(server: MediaServer, path: string, from?: string): Promise<MediaPeer> {
    const peer = await MediaPeer.open(server, `/whep/${path}`, playerOffer(), from);
    await until(() => peer.srtp);
    return peer;
  }

  static async publish(server: MediaServer, path: string): Promise<MediaPeer> {
    const peer = await MediaPeer.open(server, `/whip/${path}`, publisherOffer());
    await until(() => peer.srtp);
    return peer;
  }

  #listen(): void {
    const { socket } = this;
    this.ownPort = socket.address().port;
    socket.on("message", (datagram, { address }) => {
      // What comes from another address than that to which it sends is none of the pair (RFC 8445 §7.2.5.2.1).
      if (socket === this.socket && address === "127.0.0.1") this.#receive(datagram);
    });
  }

  #receive(datagram: Buffer): void {
    const first = datagram[0] as number;
    if (isStun(first) && first < 4) {
      const message = parseStun(datagram);
      if (message?.messageClass !== "success") return;
      this.answers++;
      const transaction = message.transaction.toString("hex");
      this.#answered.add(transaction);
      this.#asking.get(transaction)?.();
      if (!this.srtp) this.#dtls?.sendFlight();
    } else if (first < 64) this.#dtls?.receive(datagram);
    else if (isRtcp(datagram)) this.rtcp.push(...(parseRtcp(this.srtp?.receiver.unprotectRtcp(datagram) ?? Buffer.alloc(0)) ?? []));
    else {
      const packet = parseRtpPacket(datagram);
      if (!packet) return;
      (packet.payloadType === videoType ? this.video : this.audio).add(packet);
      if (!this.onRtp) return;
      const plain = this.srtp?.receiver.unprotectRtp(datagram, 12);
      if (plain) this.onRtp(plain);
    }
  }

  #tick(): void {
    this.check();
    if (!this.srtp && this.answers > 0) this.#dtls?.sendFlight();
  }

  /** A check of ICE, by default as the controlling agent that has chosen this path. Returns its transaction. */
  check(
    { ufrag, pwd }: Credentials = this.#credentials,
    attributes: readonly WrittenAttribute[] = [[ice.useCandidate, Buffer.alloc(0)]],
  ): string {
    const transaction = Buffer.concat([uint32(magicCookie), randomBytes(12)]);
    this.send(
      writeStun({
        messageClass: "request",
        method: stunMethods.binding,
        transaction,
        attributes: [
          [stunAttributes.username, Buffer.from(`${ufrag}:abcd`)],
          [ice.priority, uint32(1 << 24)],
          [ice.controlling, Buffer.alloc(8, 1)],
          ...attributes,
        ],
        integrity: { hash: "sha1", key: Buffer.from(pwd) },
        fingerprint: true,
      }),
    );
    return transaction.toString("hex");
  }

  hasAnswer(transaction: string): boolean {
    return this.#answered.has(transaction);
  }

  /** Resolves when a check was answered, which is repeated as ICE does; rejects when the session has ended. */
  async ask(): Promise<void> {
    const sent: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const send = () => {
          if (this.isClosed) reject(new Error("The session of WHEP has ended"));
          sent.push(this.check());
          this.#asking.set(sent.at(-1) as string, resolve);
        };
        timer = setInterval(send, repeatMs);
        send();
      });
    } finally {
      clearInterval(timer);
      for (const transaction of sent) this.#asking.delete(transaction);
    }
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  /** Restarts ICE (RFC 9725 §4.3.3) and goes on from another port of this computer. */
  async moveTo(fragment: string): Promise<void> {
    this.#credentials = credentialsIn(fragment);
    await this.moveToNewPort();
  }

  async moveToNewPort(): Promise<void> {
    const old = this.socket;
    this.socket = await boundSocket();
    old.close();
    this.#listen();
    this.check();
  }

  patch(body: string, ifMatch: string): Promise<Response> {
    const headers = { "content-type": "application/trickle-ice-sdpfrag", "if-match": ifMatch };
    return fetch(this.url, { method: "PATCH", headers, body });
  }

  /** Any bytes from the address of this peer. */
  send(datagram: Buffer): void {
    this.socket.send(datagram, this.port, "127.0.0.1");
  }

  sendRtcp(...packets: readonly RtcpPacket[]): void {
    this.sendRtcpBytes(writeRtcp([{ type: "receiver-report", ssrc: 1, reports: [] }, ...packets]));
  }

  /** At least eight bytes. */
  sendRtcpBytes(bytes: Buffer): void {
    if (this.srtp) this.send(this.srtp.sender.protectRtcp(bytes));
  }

  /** So many of the packets of a publisher are missing. */
  skip(packets: number): void {
    this.#sequence += packets;
  }

  /** A packet of a publisher. */
  sendRtp(payloadType: number, timestamp: number, payload: Buffer, isMarked = true): void {
    const head = Buffer.alloc(12);
    head[0] = 0x80;
    head[1] = payloadType | (isMarked ? 0x80 : 0);
    head.writeUInt16BE(this.#sequence++ & 0xffff, 2);
    head.writeUInt32BE(timestamp, 4);
    head.writeUInt32BE(payloadType, 8);
    if (this.srtp) this.send(this.srtp.sender.protectRtp(head, payload));
  }

  /** Ends it in DTLS. */
  close(): void {
    this.#dtls?.close();
  }

  end(): Promise<Response> {
    return fetch(this.url, { method: "DELETE" });
  }

  /** Without a word. */
  vanish(): void {
    clearInterval(this.#timer);
    try {
      this.socket.close();
    } catch {
      // It is closed.
    }
  }
}

async function accepted(server: MediaServer, path: string, offer: string): Promise<readonly [Response, string]> {
  const response = await server.offer(path, offer);
  const answer = await response.text();
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${answer}`);
  return [response, answer];
}

async function boundSocket(from = "127.0.0.1"): Promise<Socket> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 << 20 });
  socket.bind(0, from);
  await once(socket, "listening");
  return socket;
}

const credentialsIn = (text: string): Credentials => ({
  ufrag: /a=ice-ufrag:(\S+)/.exec(text)?.[1] ?? "",
  pwd: /a=ice-pwd:(\S+)/.exec(text)?.[1] ?? "",
});
