import { randomInt } from "node:crypto";
import { parseRtcp, writeRtcp } from "../../core/rtp/rtcp.ts";
import { isRtcp, parseRtpPacket } from "../../core/rtp/rtp-packet.ts";
import { DecodeTimes } from "../media/decode-times.ts";
import { pictureOf, separateParameterSets } from "../media/parameter-sets.ts";
import type { DepacketizedFrame, Depacketizer, Track } from "../media/track.ts";
import type { DescribedTrack } from "../protocol/media-description.ts";
import { createDepacketizer } from "../rtp/create-depacketizer.ts";
import { LatmDepacketizer } from "../rtp/latm-depacketizer.ts";
import { PublishedClock } from "../rtp/published-clock.ts";
import { type ReceivedPacket, RtpReceiver } from "../rtp/rtp-receiver.ts";
import { type SourceClock, Stream, type StreamLimits, type StreamOptions } from "./stream.ts";
import { cname } from "./stream-reports.ts";

export interface RtpSourceOptions extends StreamLimits, Pick<StreamOptions, "onReaders" | "owner"> {
  readonly tracks: readonly DescribedTrack[];
  /** Of a source before it that has dropped: its readers go on with this one, at the time that has passed. */
  readonly continues?: { readonly stream: Stream; readonly afterSeconds: number } | undefined;
  /** Over UDP packets may overtake each other. */
  readonly isUnordered: boolean;
}

interface ReceivedTrack {
  readonly payloadType: number;
  readonly clockRate: number;
  readonly receiver: RtpReceiver;
  readonly depacketizer: Depacketizer;
  track: Track;
  /** Of pictures: RTP has the times of their display alone. */
  decodeTimes: DecodeTimes | undefined;
  packets: number;
  bytes: number;
  /** What was not RTP, or of another payload type. */
  wrong: number;
}

export interface ReceivedCounts {
  readonly packets: number;
  readonly bytes: number;
  readonly lost: number;
  readonly jitterSeconds: number;
  /** Packets that were not used: not RTP, of another source, late, or of a wrong payload. */
  readonly wrong: number;
}

const reorderPackets = 64;
const reorderMs = 100;

/** A stream of RTP packets that a publisher sends or another server: makes frames of them. */
export class RtpSource implements SourceClock {
  readonly stream: Stream;
  readonly #tracks: readonly ReceivedTrack[];
  readonly #clock: PublishedClock;
  readonly #ssrc = randomInt(2 ** 32);
  readonly #startSeconds: number;
  /** The first frame of a picture after a gap is a key frame. */
  #waitsForKey: boolean;

  constructor(options: RtpSourceOptions) {
    this.#tracks = options.tracks.map(({ track, payloadType, isLatm, parameters }) => ({
      payloadType,
      clockRate: track.clockRate,
      receiver: new RtpReceiver({
        clockRate: track.clockRate,
        reorderPackets: options.isUnordered ? reorderPackets : 0,
        reorderMs: options.isUnordered ? reorderMs : 0,
      }),
      depacketizer: isLatm ? new LatmDepacketizer() : createDepacketizer(track, parameters),
      track,
      ...{ decodeTimes: undefined, packets: 0, bytes: 0, wrong: 0 },
    }));
    this.#clock = new PublishedClock(
      this.#tracks.map(({ clockRate }) => clockRate),
      () => this.stream.hasPacketReaders,
    );
    const { continues } = options;
    this.#startSeconds = continues?.afterSeconds ?? 0;
    this.#waitsForKey = continues !== undefined && continues.stream.keyTrack >= 0;
    this.stream = continues?.stream ?? new Stream({ ...options, tracks: options.tracks.map(({ track }) => track), clock: this });
    this.stream.clock = this;
    this.stream.giveUpBegun = () => this.#giveUpBegun();
    if (!continues) return;
    this.stream.forget();
    for (const [index, { track }] of options.tracks.entries()) this.stream.setTrack(index, track);
  }

  counts(track: number): ReceivedCounts {
    const { packets, bytes, wrong, receiver, depacketizer } = this.#tracks[track] as ReceivedTrack;
    const { lost, jitterSeconds, strays } = receiver;
    return { packets, bytes, lost, jitterSeconds, wrong: wrong + strays + depacketizer.dropped };
  }

  receiveRtp(index: number, bytes: Buffer, nowMs = performance.now()): void {
    const track = this.#tracks[index];
    if (!track) return;
    track.packets++;
    track.bytes += bytes.length;
    const packet = parseRtpPacket(bytes);
    if (!packet || packet.payloadType !== track.payloadType) track.wrong++;
    else this.#take(index, track, track.receiver.receive(packet, nowMs), nowMs);
  }

  /** Gives up what waited too long for a missing packet; to be called once a second. */
  tick(nowMs = performance.now()): void {
    for (const [index, track] of this.#tracks.entries()) this.#take(index, track, track.receiver.release(nowMs), nowMs);
  }

  #take(index: number, track: ReceivedTrack, received: readonly ReceivedPacket[], nowMs: number): void {
    for (const { packet, isAfterLoss, isNewSource } of received) {
      if (isNewSource) {
        this.#clock.restart(index, packet.timestamp, Math.round(track.clockRate / 25));
        track.decodeTimes = undefined;
      }
      const frames = track.depacketizer.push(packet.payload, packet.timestamp, packet.isMarked, isAfterLoss);
      for (const frame of frames) this.#publish(index, track, frame, nowMs);
    }
    this.#countBegun();
  }

  #countBegun(): void {
    let bytes = 0;
    for (const { depacketizer } of this.#tracks) bytes += depacketizer.heldBytes;
    this.stream.setBegun(bytes);
  }

  #giveUpBegun(): void {
    for (const { depacketizer } of this.#tracks) depacketizer.giveUp();
    this.#countBegun();
  }

  #publish(index: number, received: ReceivedTrack, { timestamp, units, isKey }: DepacketizedFrame, nowMs: number): void {
    const pts = this.#clock.pts(index, timestamp, nowMs) + Math.round(this.#startSeconds * received.clockRate);
    if (this.#waitsForKey && !(isKey && index === this.stream.keyTrack)) return;
    this.#waitsForKey = false;
    if (received.track.kind === "audio") {
      this.stream.publish({ track: index, units, pts, dts: pts, isKey });
      return;
    }
    const separated = separateParameterSets(received.track, units);
    if (separated.track !== received.track) {
      received.track = separated.track;
      received.decodeTimes = undefined;
      this.stream.setTrack(index, separated.track);
    }
    if (separated.units.length === 0) return;
    received.decodeTimes ??= new DecodeTimes(pictureOf(separated.track)?.reorderDepth);
    this.stream.publish({ track: index, units: separated.units, pts, dts: received.decodeTimes.next(pts), isKey });
  }

  receiveRtcp(index: number, bytes: Buffer, nowMs = performance.now()): void {
    const track = this.#tracks[index];
    const packets = track && isRtcp(bytes) ? parseRtcp(bytes) : undefined;
    if (!track) return;
    if (!packets) track.wrong++;
    for (const packet of packets ?? []) {
      if (packet.type !== "sender-report") continue;
      this.#clock.senderReport(index, packet.ntpMs, packet.timestamp, nowMs);
      if (packet.ntpMiddle !== undefined) track.receiver.senderReport(packet.ntpMiddle, nowMs);
    }
  }

  ptsAt(index: number, atMs: number): number {
    const { clockRate } = this.#tracks[index] as ReceivedTrack;
    return this.#clock.ptsAt(index, atMs) + this.#startSeconds * clockRate;
  }

  /** For the sender (RFC 3550 §6.4.2); undefined before its first packet. */
  receiverReport(index: number, nowMs = performance.now()): Buffer | undefined {
    const block = this.#tracks[index]?.receiver.report(nowMs);
    return (
      block &&
      writeRtcp([
        { type: "receiver-report", ssrc: this.#ssrc, reports: [block] },
        { type: "source-description", chunks: [{ ssrc: this.#ssrc, cname }] },
      ])
    );
  }
}
