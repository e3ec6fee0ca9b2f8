import type { WorkConnection, WorkShare } from "../../core/turns/work-connection.ts";
import { PacketFaults, type ReaderFaults } from "../faults/packet-faults.ts";
import type { FramePackets } from "../media/track.ts";
import type { Stream } from "../streams/stream.ts";
import type { PacketReader, ReaderPlace } from "../streams/stream-readers.ts";
import type { SentSequences } from "./sent-sequences.ts";
import type { TrackTransport } from "./track-transport.ts";

export interface ReaderLimits {
  /** A client that has more unsent bytes is skipped to the next key frame, also over UDP where too much waits for its turn. */
  readonly unsentBytes: number;
  /** A client that reads nothing for this time is disconnected. */
  readonly stallMs: number;
}

export interface ReaderTrackCounts {
  packets: number;
  bytes: number;
  dropped: number;
  readonly sequences: SentSequences;
}

export interface StreamReaderOptions {
  readonly stream: Stream;
  readonly transports: ReadonlyMap<number, TrackTransport>;
  readonly counts: ReadonlyMap<number, ReaderTrackCounts>;
  readonly limits: ReaderLimits;
  readonly faults: ReaderFaults;
  /** What is kept of the stream reaches the client in its turns, behind the work for those who ask for something. */
  readonly work: WorkConnection;
  readonly onEnd: (reason: string) => void;
}

/** The burst with which a stream begins would overflow the receive buffer of a UDP client. */
const burstBytes = 16 << 10;
const burstIntervalMs = 5;

/** One client that plays a stream. It begins with a key frame and, when it is slow, goes on with one. */
export class StreamReader implements PacketReader {
  /** How often a slow client was skipped. */
  skips = 0;
  readonly #options: StreamReaderOptions;
  /** The track whose key frames it waits for; -1 where it plays no video. */
  readonly #keyTrack: number;
  #waitsForKey: boolean;
  #slowSince: number | undefined;
  readonly #share: WorkShare;
  #place: ReaderPlace<FramePackets> | undefined;
  #endWait = (): void => {};
  readonly #faults: PacketFaults;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
    const { stream, transports } = options;
    this.#keyTrack = transports.has(stream.keyTrack) ? stream.keyTrack : -1;
    this.#waitsForKey = this.#keyTrack >= 0;
    this.#share = options.work.join(() => this.#takeKept());
    this.#faults = new PacketFaults({
      ...options.faults,
      tracks: stream.tracks,
      keyTrack: stream.keyTrack,
      keyFrame: () => stream.keyPackets,
      delayed: stream.delayed,
      work: options.work,
      deliver: (packets) => this.#deliver(packets),
      deliverReport: (track, report) => transports.get(track)?.sendReport(report),
    });
  }

  start(): void {
    const { stream, transports } = this.#options;
    const sendReports = () => {
      for (const track of transports.keys()) this.onReport(track, stream.senderReport(track));
    };
    // Before kept packets: a player that gets a report after them moves the times that it has begun with. A clip that stands has none, and
    // its clock starts with its reader.
    const { hasKept } = stream;
    if (hasKept) sendReports();
    this.#place = stream.addPacketReader(this);
    if (!hasKept) sendReports();
    this.#takeKept();
  }

  stop(): void {
    this.#endWait();
    this.#faults.stop();
    this.#place?.remove();
    this.#place = undefined;
  }

  /** Packets since the key frame, and what comes in the meantime: at once over TCP, in bursts over UDP. */
  #takeKept(): void {
    const { stream, transports, work } = this.#options;
    const udp = [...transports.values()].filter(({ connection }) => !connection);
    const burst = udp.length > 0 ? Math.max(burstBytes, stream.keptBytes >> 4) : Number.POSITIVE_INFINITY;
    let sent = 0;
    while (this.#place) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      if (sent >= burst || udp.some(({ unsentBytes }) => unsentBytes > burst)) {
        this.#endWait = work.wait(burstIntervalMs, () => this.#takeKept());
        return;
      }
      const packets = this.#place.next();
      if (!packets) return;
      sent += packets.bytes.length;
      this.onPackets(packets);
    }
  }

  /** The client takes less than is sent, for longer than is allowed. */
  isStalled(nowMs: number): boolean {
    return this.#slowSince !== undefined && nowMs - this.#slowSince > this.#options.limits.stallMs;
  }

  onPackets(packets: FramePackets): void {
    const transport = this.#options.transports.get(packets.frame.track);
    if (!transport) return;
    if (this.#mayTake(packets, transport)) this.#send(packets);
  }

  onGap(): void {
    this.#waitsForKey = this.#keyTrack >= 0;
  }

  #mayTake(packets: FramePackets, { unsentBytes: unsent }: TrackTransport): boolean {
    const { frame } = packets;
    const { unsentBytes } = this.#options.limits;
    const isSlow = this.#slowSince !== undefined;
    if (unsent > unsentBytes) {
      if (!isSlow) {
        this.#slowSince = performance.now();
        this.skips++;
        this.#options.stream.skips++;
        this.#waitsForKey = this.#keyTrack >= 0;
      }
      this.#drop(packets);
      return false;
    }
    if (isSlow) {
      if (unsent > unsentBytes / 2) {
        this.#drop(packets);
        return false;
      }
      this.#slowSince = undefined;
    }
    // The track of pictures may have been torn down in the meantime.
    if (!this.#waitsForKey || !this.#options.transports.has(this.#keyTrack)) return true;
    if (frame.track === this.#keyTrack && frame.isKey) {
      this.#waitsForKey = false;
      return true;
    }
    // Before the first picture nothing is missing.
    if (this.skips > 0) this.#drop(packets);
    return false;
  }

  #drop({ frame, offsets }: FramePackets): void {
    const counts = this.#options.counts.get(frame.track);
    if (counts) counts.dropped++;
    this.#options.stream.packetsUnsent += offsets.length;
  }

  #send(packets: FramePackets): void {
    if (this.#faults.isActive) this.#faults.push(packets);
    else this.#deliver(packets);
  }

  #deliver(packets: FramePackets): void {
    const { stream, counts, transports } = this.#options;
    const transport = transports.get(packets.frame.track);
    if (!transport) return;
    if (!transport.send(packets)) {
      if (packets.frame.track === this.#keyTrack) this.#waitsForKey = true;
      this.#drop(packets);
      return;
    }
    const count = counts.get(packets.frame.track);
    if (!count) return;
    count.packets += packets.offsets.length;
    count.sequences.add(packets.sequence, packets.offsets.length, packets.position);
    count.bytes += packets.bytes.length;
    stream.bytesSent += packets.bytes.length;
  }

  onReport(track: number, report: Buffer): void {
    if (this.#faults.isActive) this.#faults.report(track, report);
    else this.#options.transports.get(track)?.sendReport(report);
  }

  onEnd(reason: string): void {
    this.#endWait();
    this.#faults.stop();
    this.#place = undefined;
    this.#options.onEnd(reason);
  }
}
