import { randomInt } from "node:crypto";
import type { PublishedTrack } from "../../../../contract/services/rtsp-media.ts";
import { ReceiverStatistics } from "../../../core/rtp/receiver-statistics.ts";
import { parseRtcp, type RtcpPacket, writeRtcp } from "../../../core/rtp/rtcp.ts";
import { parseRtpPacket } from "../../../core/rtp/rtp-packet.ts";
import type { OutgoingStream } from "../../../core/streams/peer-provider.ts";
import type { PeerTransport } from "../transport/peer-transport.ts";
import { LossTracker } from "./loss-tracker.ts";

export interface WhipSessionOptions {
  readonly path: string;
  readonly tracks: readonly PublishedTrack[];
  /** Between two requests for a key frame: browsers make none of their own accord. */
  readonly keyFrameMs: number;
  /** The most that the publisher may send, in bits a second. */
  readonly mostBitRate: number;
}

/** One track of a publisher. */
export class ReceivedTrack {
  readonly track: PublishedTrack;
  readonly losses = new LossTracker();
  packets = 0;
  bytes = 0;
  ssrc: number | undefined;
  readonly statistics: ReceiverStatistics;

  constructor(track: PublishedTrack) {
    this.track = track;
    this.statistics = new ReceiverStatistics(track.clockRate);
  }
}

type PublishedStream = OutgoingStream<Record<string, never>>;

/** What came within this time is one item, unless a picture ends it. */
const gatherMs = 5;
const mostGatheredBytes = 64 << 10;
const nackMs = 25;
/** Requests of a client that gives up packets again and again. */
const leastKeyFrameMs = 400;
const interleavedBytes = 4;
const cname = "backlot";

/** A browser that publishes a path: its packets go to the RTSP service as they are. */
export class WhipSession {
  /** Ours to the publisher. */
  keyFrameRequests = 0;
  /** Packets that the RTSP service did not take in time, or that came before it reads. */
  dropped = 0;
  readonly tracks: readonly ReceivedTrack[];
  readonly #options: WhipSessionOptions;
  readonly #transport: PeerTransport;
  readonly #ssrc = randomInt(1, 2 ** 32);
  #to: PublishedStream | undefined;
  #finish: (() => void) | undefined;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #gatherTimer: NodeJS.Timeout | undefined;
  #nackTimer: NodeJS.Timeout | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #reportedMs = Number.NEGATIVE_INFINITY;

  constructor(transport: PeerTransport, options: WhipSessionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.tracks = options.tracks.map((track) => new ReceivedTrack(track));
  }

  /** The RTSP service reads the packets. Resolves when the session is closed or the stream is cancelled. */
  publishTo(stream: PublishedStream): Promise<void> {
    this.#finish?.();
    this.#to = stream;
    return new Promise((resolve) => {
      this.#finish = resolve;
      stream.signal.addEventListener("abort", () => resolve());
    });
  }

  /** The transport is connected. */
  start(): void {
    this.#nackTimer = setInterval(() => this.#sendNacks(performance.now()), nackMs);
    this.tick();
  }

  receiveRtp(bytes: Buffer): void {
    const packet = parseRtpPacket(bytes);
    const index = packet ? this.tracks.findIndex(({ track }) => track.payloadType === packet.payloadType) : -1;
    const received = this.tracks[index];
    // Padding, by which a browser finds out how much it can send, has no payload.
    if (!packet || !received) return;
    if (received.ssrc !== packet.ssrc) {
      received.ssrc = packet.ssrc;
      received.statistics.begin();
      if (received.track.codec === "h264") this.requestKeyFrame();
    }
    const now = performance.now();
    received.packets++;
    received.bytes += bytes.length;
    received.statistics.packet(packet, now);
    received.losses.received(packet.sequence);
    this.#gather(2 * index, bytes);
    if (packet.isMarked || this.#gatheredBytes > mostGatheredBytes) this.#flush();
  }

  #gather(channel: number, packet: Buffer): void {
    const head = Buffer.allocUnsafe(interleavedBytes);
    head[0] = 0x24;
    head[1] = channel;
    head.writeUInt16BE(packet.length, 2);
    this.#gathered.push(head, packet);
    this.#gatheredBytes += packet.length;
    this.#gatherTimer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    clearTimeout(this.#gatherTimer);
    this.#gatherTimer = undefined;
    const packets = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (packets.length > 0 && !this.#to?.trySend({}, Buffer.concat(packets))) this.dropped += packets.length / 2;
  }

  receiveRtcp(bytes: Buffer): void {
    for (const packet of parseRtcp(bytes) ?? []) {
      const index = packet.type === "sender-report" ? this.tracks.findIndex(({ ssrc }) => ssrc === packet.ssrc) : -1;
      const received = this.tracks[index];
      if (packet.type !== "sender-report" || !received) continue;
      if (packet.ntpMiddle !== undefined) received.statistics.senderReport(packet.ntpMiddle, performance.now());
      this.#gather(2 * index + 1, writeRtcp([packet]));
    }
  }

  #sendNacks(nowMs: number): void {
    for (const { track, ssrc, losses } of this.tracks) {
      if (ssrc === undefined) continue;
      const before = losses.givenUp;
      const sequences = losses.due(nowMs);
      if (sequences.length > 0) this.#send({ type: "nack", ssrc: this.#ssrc, mediaSsrc: ssrc, sequences });
      if (losses.givenUp > before && track.codec === "h264") this.requestKeyFrame();
    }
  }

  /** Not more often than the publisher can follow. */
  requestKeyFrame(): void {
    const now = performance.now();
    const video = this.tracks.find(({ track }) => track.codec === "h264");
    if (video?.ssrc === undefined || now - this.#askedMs < leastKeyFrameMs) return;
    this.#askedMs = now;
    this.keyFrameRequests++;
    this.#send({ type: "picture-loss", ssrc: this.#ssrc, mediaSsrc: video.ssrc });
  }

  #send(packet: RtcpPacket): void {
    this.#transport.sendRtcp(writeRtcp([{ type: "receiver-report", ssrc: this.#ssrc, reports: [] }, packet]));
  }

  /** To be called once a second. */
  tick(nowMs = performance.now()): void {
    const { keyFrameMs, mostBitRate } = this.#options;
    if (nowMs - this.#askedMs >= keyFrameMs) this.requestKeyFrame();
    if (nowMs - this.#reportedMs < 900) return;
    this.#reportedMs = nowMs;
    const known = this.tracks.filter(({ ssrc }) => ssrc !== undefined);
    if (known.length === 0) return;
    this.#transport.sendRtcp(
      writeRtcp([
        {
          type: "receiver-report",
          ssrc: this.#ssrc,
          reports: known.map(({ ssrc, statistics }) => statistics.report(ssrc as number, nowMs)),
        },
        { type: "source-description", chunks: [{ ssrc: this.#ssrc, cname }] },
        { type: "bitrate-estimate", ssrc: this.#ssrc, bitRate: mostBitRate, mediaSsrcs: known.map(({ ssrc }) => ssrc as number) },
      ]),
    );
  }

  close(): void {
    clearInterval(this.#nackTimer);
    this.#flush();
    this.#finish?.();
  }
}
