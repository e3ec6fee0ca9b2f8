import { randomInt } from "node:crypto";
import { errorText } from "../../core/service/service-error.ts";
import type { Frame, FramePackets, Packetizer, Track } from "../media/track.ts";
import { payloadTypeOf } from "../protocol/media-description.ts";
import { createPacketizer } from "../rtp/create-packetizer.ts";
import { writeRtcp } from "../rtp/rtcp.ts";

/** Takes frames: HLS, MPEG-TS, the page's picture. */
export interface FrameReader {
  onFrame(frame: Frame): void;
  /** A source sent other parameter sets for a track. */
  onTrack?(index: number, track: Track): void;
  onEnd(reason: string): void;
}

/** Takes the packets of frames, and sender reports. */
export interface PacketReader {
  onPackets(packets: FramePackets): void;
  onReport(track: number, report: Buffer): void;
  onEnd(reason: string): void;
}

/** Where a source's timestamps stand on the clock. */
export interface SourceClock {
  /** Of a track, at a time of `performance.now()`. Linear but for steps where the source itself makes one. */
  ptsAt(track: number, atMs: number): number;
}

export interface StreamLimits {
  /** Largest RTP packet. */
  readonly packetBytes: number;
  /** What is kept since the last key frame; a longer group of pictures is not kept. */
  readonly keptBytes: number;
}

export interface StreamOptions extends StreamLimits {
  readonly tracks: readonly Track[];
  readonly clock: SourceClock;
  /** Called with the number of readers whenever it changes. */
  readonly onReaders?: (count: number) => void;
}

export interface TrackCounts {
  frames: number;
  bytes: number;
  packets: number;
  /** Of the packets' payloads, as a sender report counts them. */
  payloadBytes: number;
}

interface KeptFrame {
  readonly frame: Frame;
  packets: FramePackets | undefined;
}

const reportIntervalMs = 5_000;
/** Canonical name of this server as a sender (RFC 3550 §6.5.1). */
export const cname = "backlot";

/** What flows in a path: frames of one source, for any number of readers. */
export class Stream {
  readonly counts: readonly TrackCounts[];
  /** Of the current source. */
  clock: SourceClock;
  /** Of its description, which changes with the parameter sets. */
  readonly id = randomInt(2 ** 40);
  version = 1;
  /** To readers, counted by them. */
  bytesSent = 0;
  readonly #tracks: Track[];
  readonly #packetizers: readonly Packetizer[];
  readonly #options: StreamOptions;
  readonly #frameReaders = new Set<FrameReader>();
  readonly #packetReaders = new Set<PacketReader>();
  /** The track whose key frames begin a group of pictures; -1 in a stream of audio only. */
  readonly #keyTrack: number;
  /** Frames since the last key frame, empty where they are too many. */
  #kept: KeptFrame[] = [];
  #keptBytes = 0;
  #keyFrames = 0;
  #framesAtKey = 0;
  #groupFrames = 0;
  #reportTimer: NodeJS.Timeout | undefined;
  #ended: string | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.#tracks = [...options.tracks];
    this.#packetizers = options.tracks.map((track, index) =>
      createPacketizer(track, { track: index, payloadType: payloadTypeOf(track, index), packetBytes: options.packetBytes }),
    );
    this.#keyTrack = options.tracks.findIndex(({ kind }) => kind === "video");
    this.counts = options.tracks.map(() => ({ frames: 0, bytes: 0, packets: 0, payloadBytes: 0 }));
  }

  get tracks(): readonly Track[] {
    return this.#tracks;
  }

  get packetizers(): readonly Packetizer[] {
    return this.#packetizers;
  }

  get readers(): number {
    return this.#frameReaders.size + this.#packetReaders.size;
  }

  get keyFrames(): number {
    return this.#keyFrames;
  }

  /** Pictures from one key frame to the next; 0 before the second one. */
  get groupFrames(): number {
    return this.#groupFrames;
  }

  /** Of the last key frame, while the frames since then are kept. */
  get keyPackets(): FramePackets | undefined {
    return this.#kept[0]?.packets;
  }

  get keyTrack(): number {
    return this.#keyTrack;
  }

  /** Why it has ended; undefined while it flows. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** The track has other parameter sets from the next frame on. */
  setTrack(index: number, track: Track): void {
    this.#tracks[index] = track;
    this.version++;
    this.#packetizers[index]?.setTrack(track);
    for (const reader of this.#frameReaders) this.#give(reader, this.#frameReaders, () => reader.onTrack?.(index, track));
  }

  publish(frame: Frame): void {
    if (this.#ended !== undefined) return;
    const counts = this.counts[frame.track] as TrackCounts;
    let bytes = 0;
    for (const unit of frame.units) bytes += unit.length;
    counts.frames++;
    counts.bytes += bytes;
    if (frame.track === this.#keyTrack && frame.isKey) {
      if (this.#keyFrames++ > 0) this.#groupFrames = counts.frames - this.#framesAtKey;
      this.#framesAtKey = counts.frames;
      this.#kept = [];
      this.#keptBytes = 0;
    }
    const kept: KeptFrame = { frame, packets: undefined };
    this.#keep(kept, bytes);
    if (this.#packetReaders.size > 0) {
      const packets = this.#packetsOf(kept);
      for (const reader of this.#packetReaders) this.#give(reader, this.#packetReaders, () => reader.onPackets(packets));
    }
    for (const reader of this.#frameReaders) this.#give(reader, this.#frameReaders, () => reader.onFrame(frame));
  }

  /** An error of one reader ends that reader: the source and the others go on. */
  #give<Reader extends FrameReader | PacketReader>(reader: Reader, readers: Set<Reader>, give: () => void): void {
    try {
      give();
    } catch (error) {
      this.#remove(readers, reader);
      reader.onEnd(errorText(error));
    }
  }

  #keep(kept: KeptFrame, bytes: number): void {
    if (this.#keyTrack < 0) return;
    const isBegin = kept.frame.track === this.#keyTrack && kept.frame.isKey;
    // Without its beginning the group is useless.
    if (!isBegin && this.#kept.length === 0) return;
    this.#keptBytes += bytes;
    if (this.#keptBytes > this.#options.keptBytes) this.#kept = [];
    else this.#kept.push(kept);
  }

  #packetsOf(kept: KeptFrame): FramePackets {
    if (kept.packets) return kept.packets;
    const { track } = kept.frame;
    const packets = (this.#packetizers[track] as Packetizer).packetize(kept.frame);
    const counts = this.counts[track] as TrackCounts;
    counts.packets += packets.offsets.length;
    counts.payloadBytes += packets.payloadBytes;
    kept.packets = packets;
    return packets;
  }

  /** The reader gets the frames since the last key frame at once. Returns the function that removes it. */
  addFrameReader(reader: FrameReader): () => void {
    this.#frameReaders.add(reader);
    for (const { frame } of this.#kept) reader.onFrame(frame);
    this.#countReaders();
    return () => this.#remove(this.#frameReaders, reader);
  }

  /**
   * The reader gets the packets since the last key frame at once; the following ones continue their sequence numbers. All kept frames
   * are made into packets now, so that their order stays that of the sequence numbers.
   */
  addPacketReader(reader: PacketReader): () => void {
    this.#packetReaders.add(reader);
    for (const kept of this.#kept) reader.onPackets(this.#packetsOf(kept));
    this.#reportTimer ??= setInterval(() => this.#sendReports(), reportIntervalMs);
    this.#countReaders();
    return () => this.#remove(this.#packetReaders, reader);
  }

  #remove<Reader>(readers: Set<Reader>, reader: Reader): void {
    if (!readers.delete(reader)) return;
    if (this.#packetReaders.size === 0) this.#stopReports();
    this.#countReaders();
  }

  #countReaders(): void {
    this.#options.onReaders?.(this.readers);
  }

  /** The sequence number and timestamp of the first packet that a new reader gets of a track (RFC 2326 §12.33). */
  positionOf(track: number): { readonly sequence: number; readonly timestamp: number } {
    const packetizer = this.#packetizers[track] as Packetizer;
    const first = this.#kept.find(({ frame }) => frame.track === track);
    const firstPackets = this.#kept.find(({ frame, packets }) => frame.track === track && packets)?.packets;
    return {
      sequence: firstPackets?.sequence ?? packetizer.sequence,
      timestamp: packetizer.timestamp(Math.round(first?.frame.pts ?? this.clock.ptsAt(track, performance.now()))),
    };
  }

  /** RFC 3550 §6.4.1: a compound packet with a sender report and the source description. */
  senderReport(track: number, atMs = performance.now()): Buffer {
    const packetizer = this.#packetizers[track] as Packetizer;
    const { packets, payloadBytes } = this.counts[track] as TrackCounts;
    return writeRtcp([
      {
        type: "sender-report",
        ssrc: packetizer.ssrc,
        // From the same clock as the timestamps: the system's may be set meanwhile.
        ntpMs: performance.timeOrigin + atMs,
        timestamp: packetizer.timestamp(Math.round(this.clock.ptsAt(track, atMs))),
        packets,
        payloadBytes,
        reports: [],
      },
      { type: "source-description", chunks: [{ ssrc: packetizer.ssrc, cname }] },
    ]);
  }

  /** RFC 3550 §6.6: the last packet of a track. */
  goodbye(track: number, reason: string): Buffer {
    const { ssrc } = this.#packetizers[track] as Packetizer;
    return writeRtcp([
      { type: "receiver-report", ssrc, reports: [] },
      { type: "source-description", chunks: [{ ssrc, cname }] },
      { type: "goodbye", ssrcs: [ssrc], reason },
    ]);
  }

  #sendReports(): void {
    const now = performance.now();
    for (const track of this.#tracks.keys()) {
      const report = this.senderReport(track, now);
      for (const reader of this.#packetReaders) reader.onReport(track, report);
    }
  }

  #stopReports(): void {
    clearInterval(this.#reportTimer);
    this.#reportTimer = undefined;
  }

  /** The kept frames are no longer current: the source pauses. */
  forget(): void {
    this.#kept = [];
    this.#keptBytes = 0;
  }

  /** Ends it for all readers. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#stopReports();
    this.forget();
    const readers = [...this.#packetReaders, ...this.#frameReaders];
    this.#packetReaders.clear();
    this.#frameReaders.clear();
    for (const reader of readers) reader.onEnd(reason);
  }
}
