import { randomBytes } from "node:crypto";
import type { DatagramSender } from "../../../core/net/datagram-sender.ts";
import { isRtcp } from "../../../core/rtp/rtp-packet.ts";
import { errorText } from "../../../core/service/service-error.ts";
import { oneStep, type WorkConnection } from "../../../core/turns/work-connection.ts";
import { WorkQueue } from "../../../core/turns/work-queue.ts";
import type { DtlsCertificate } from "../dtls/dtls-certificate.ts";
import { DtlsClient } from "../dtls/dtls-client.ts";
import { DtlsServer } from "../dtls/dtls-server.ts";
import type { DtlsSide } from "../dtls/dtls-side.ts";
import type { Fingerprint } from "../dtls/peer-certificate.ts";
import { SrtpReceiver, SrtpSender } from "./srtp-context.ts";

/** An address of the peer that a check came from, and the socket it came by. */
export interface PeerPath {
  readonly sender: DatagramSender;
  readonly address: string;
  readonly port: number;
}

export interface IceCredentials {
  readonly ufrag: string;
  readonly pwd: string;
}

export interface PeerTransportOptions {
  readonly certificate: DtlsCertificate;
  readonly fingerprints: readonly Fingerprint[];
  /** The peer waits for our ClientHello; else it sends its own. */
  readonly isDtlsPassive: boolean;
  /** Of the peer: what it sends is worked off in its turns. */
  readonly work: WorkConnection;
  /** Of both directions. */
  readonly onConnected: () => void;
  readonly onRtp: (packet: Buffer) => void;
  readonly onRtcp: (packet: Buffer) => void;
  /** Called once. */
  readonly onEnd: (reason: string, by: "client" | "server") => void;
  /** Until it is connected, and between two checks of the peer (RFC 7675). */
  readonly connectMs: number;
  readonly consentMs: number;
}

/** Datagrams of a peer that wait for its turn; more are lost, as they would be on the way. */
const mostWaitingBytes = 512 << 10;

export type TransportState = "waiting" | "handshake" | "connected" | "ended";

/**
 * ICE as a lite agent (RFC 8445 §2.5), DTLS and SRTP with one peer. The peer makes the checks; where they stop, its consent is lost.
 */
export class PeerTransport {
  state: TransportState = "waiting";
  bytesSent = 0;
  bytesReceived = 0;
  packetsSent = 0;
  packetsReceived = 0;
  /** What could not be sent at once, what was no genuine packet, and what came faster than it was worked off. */
  unsent = 0;
  rejected = 0;
  dropped = 0;
  /** Checks with right credentials. */
  checks = 0;
  readonly #options: PeerTransportOptions;
  readonly #dtls: DtlsSide;
  readonly #received: WorkQueue;
  readonly #createdMs = performance.now();
  /** The newest last. Those that the peer uses, before an ICE restart, are valid until it uses the new ones. */
  #credentials: IceCredentials[] = [newCredentials()];
  #path: PeerPath | undefined;
  #checkedMs = 0;
  #srtp: { readonly sender: SrtpSender; readonly receiver: SrtpReceiver } | undefined;

  constructor(options: PeerTransportOptions) {
    this.#options = options;
    this.#received = new WorkQueue(options.work, (error) => this.#end(errorText(error), "server"));
    const Side = options.isDtlsPassive ? DtlsClient : DtlsServer;
    this.#dtls = new Side({
      certificate: options.certificate,
      fingerprints: options.fingerprints,
      send: (datagram) => this.#send(datagram),
      onConnected: ({ profile, sending, receiving }) => {
        this.#srtp = { sender: new SrtpSender(profile, sending), receiver: new SrtpReceiver(profile, receiving) };
        this.state = "connected";
        options.onConnected();
      },
      onEnd: (reason, by) => this.#end(reason, by),
    });
  }

  get credentials(): readonly IceCredentials[] {
    return this.#credentials;
  }

  get path(): PeerPath | undefined {
    return this.#path;
  }

  /** New credentials (RFC 8445 §9). Those of an earlier restart that the peer has not used are `unused` from now on. */
  restartIce(): { readonly credentials: IceCredentials; readonly unused: readonly IceCredentials[] } {
    const credentials = newCredentials();
    const [inUse, ...unused] = this.#credentials;
    this.#credentials = inUse ? [inUse, credentials] : [credentials];
    return { credentials, unused };
  }

  /** A check with the right password came. Returns credentials that are no longer used. */
  checked(path: PeerPath, { ufrag, isNominated }: { readonly ufrag: string; readonly isNominated: boolean }): readonly IceCredentials[] {
    this.checks++;
    this.#checkedMs = performance.now();
    if (this.state === "waiting") this.state = "handshake";
    if (!this.#path || isNominated) this.#path = path;
    const newest = this.#credentials.at(-1);
    if (ufrag !== newest?.ufrag || this.#credentials.length === 1) return [];
    const old = this.#credentials.slice(0, -1);
    this.#credentials = [newest];
    return old;
  }

  /** The check was answered: where the peer waits for our ClientHello, it gets it now. */
  start(): void {
    this.#dtls.start();
  }

  /** A datagram that is no STUN, from an address with a check (RFC 7983). */
  receive(datagram: Buffer): void {
    if (this.state === "ended") return;
    this.bytesReceived += datagram.length;
    // Media before the handshake, unless the end of that waits: dropped without any work, it leaves the queues of the system to others.
    if (!this.#srtp && this.#received.bytes === 0 && (datagram[0] as number) >= 128) this.rejected++;
    else if (this.#received.bytes > mostWaitingBytes) this.dropped++;
    else
      this.#received.add(
        datagram.length,
        oneStep(() => this.#receive(datagram)),
      );
  }

  #receive(datagram: Buffer): void {
    const first = datagram[0] as number;
    if (first >= 20 && first <= 63) this.#dtls.receive(datagram);
    else if (first >= 128 && first <= 191 && this.#srtp) this.#media(datagram, this.#srtp.receiver);
    else this.rejected++;
  }

  #media(datagram: Buffer, receiver: SrtpReceiver): void {
    if (isRtcp(datagram)) {
      const packet = receiver.unprotectRtcp(datagram);
      if (packet) this.#options.onRtcp(packet);
      else this.rejected++;
      return;
    }
    const headBytes = rtpHeadBytes(datagram);
    const packet = headBytes === undefined ? undefined : receiver.unprotectRtp(datagram, headBytes);
    if (!packet) {
      this.rejected++;
      return;
    }
    this.packetsReceived++;
    this.#options.onRtp(packet);
  }

  /** An RTP packet: its header, and its payload. */
  sendRtp(head: Buffer, payload: Buffer): void {
    if (!this.#srtp) return;
    this.packetsSent++;
    this.#send(this.#srtp.sender.protectRtp(head, payload));
  }

  sendRtcp(packet: Buffer): void {
    if (this.#srtp) this.#send(this.#srtp.sender.protectRtcp(packet));
  }

  #send(datagram: Buffer): void {
    if (!this.#path || this.state === "ended") return;
    const { sender, address, port } = this.#path;
    this.bytesSent += datagram.length;
    if (sender.send(datagram, port, address) !== undefined) this.unsent++;
  }

  /** To be called once a second. */
  tick(nowMs = performance.now()): void {
    const { connectMs, consentMs } = this.#options;
    if (this.state === "ended") return;
    if (this.state !== "connected" && nowMs - this.#createdMs > connectMs) {
      const seconds = Math.round(connectMs / 1_000);
      this.#end(
        this.checks === 0
          ? `no check of ICE arrived within ${seconds} s: the client does not reach the media port by UDP`
          : `the handshake of DTLS was not completed within ${seconds} s`,
        "server",
      );
    } else if (this.state === "connected" && nowMs - this.#checkedMs > consentMs)
      this.#end(`the client is gone: its consent has expired, with no check of ICE for ${Math.round(consentMs / 1_000)} s`, "client");
  }

  /** Closes it without a call of `onEnd`. */
  close(): void {
    if (this.state === "ended") return;
    this.#received.clear();
    this.#dtls.close();
    this.state = "ended";
  }

  #end(reason: string, by: "client" | "server"): void {
    if (this.state === "ended") return;
    this.close();
    this.#options.onEnd(reason, by);
  }
}

/** RFC 8445 §5.3: at least 24 and 128 bits. Characters of ice-char. */
const newCredentials = (): IceCredentials => ({
  ufrag: randomBytes(6).toString("base64url").replace(/[-_]/g, "x"),
  pwd: randomBytes(18).toString("base64url").replace(/[-_]/g, "x"),
});

/** With contributing sources and extension; undefined where it is no header. */
function rtpHeadBytes(bytes: Buffer): number | undefined {
  if (bytes.length < 12) return undefined;
  const first = bytes[0] as number;
  let end = 12 + 4 * (first & 0x0f);
  if (first & 0x10) {
    if (end + 4 > bytes.length) return undefined;
    end += 4 + 4 * bytes.readUInt16BE(end + 2);
  }
  return end <= bytes.length ? end : undefined;
}
