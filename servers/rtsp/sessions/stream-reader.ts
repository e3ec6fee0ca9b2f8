import { PacketFaults, type ReaderFaults } from "../faults/packet-faults.ts";
import type { FramePackets } from "../media/track.ts";
import type { PacketReader, Stream } from "../streams/stream.ts";
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
}

export interface StreamReaderOptions {
  readonly stream: Stream;
  readonly transports: ReadonlyMap<number, TrackTransport>;
  readonly counts: ReadonlyMap<number, ReaderTrackCounts>;
  readonly limits: ReaderLimits;
  readonly faults: ReaderFaults;
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
  /** Packets since the key frame, and what came in the meantime, on their way to a UDP client. */
  #backlog: FramePackets[] | undefined;
  #backlogBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #remove: (() => void) | undefined;
  readonly #faults: PacketFaults;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
    const { stream, transports } = options;
    this.#keyTrack = transports.has(stream.keyTrack) ? stream.keyTrack : -1;
    this.#waitsForKey = this.#keyTrack >= 0;
    this.#faults = new PacketFaults({
      ...options.faults,
      tracks: stream.tracks,
      keyTrack: stream.keyTrack,
      keyFrame: () => stream.keyPackets,
      deliver: (packets) => this.#deliver(packets),
      deliverReport: (track, report) => transports.get(track)?.sendReport(report),
    });
  }

  start(): void {
    const { stream, transports } = this.#options;
    const isUdp = [...transports.values()].some(({ connection }) => !connection);
    if (isUdp) this.#backlog = [];
    const sendReports = () => {
      for (const track of transports.keys()) this.onReport(track, stream.senderReport(track));
    };
    // Before kept packets: a player that gets a report after them moves the times that it has begun with. A clip that stands has none, and
    // its clock starts with its reader.
    const { hasKept } = stream;
    if (hasKept) sendReports();
    this.#remove = stream.addPacketReader(this);
    if (!hasKept) sendReports();
    this.#sendBacklog();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#backlog = undefined;
    this.#faults.stop();
    this.#remove?.();
    this.#remove = undefined;
  }

  /** The client takes less than is sent, for longer than is allowed. */
  isStalled(nowMs: number): boolean {
    return this.#slowSince !== undefined && nowMs - this.#slowSince > this.#options.limits.stallMs;
  }

  onPackets(packets: FramePackets): void {
    const transport = this.#options.transports.get(packets.frame.track);
    if (!transport) return;
    if (!this.#mayTake(packets, transport)) return;
    if (this.#backlog) {
      this.#backlog.push(packets);
      this.#backlogBytes += packets.bytes.length;
    } else this.#send(packets);
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
    transport.send(packets);
    const count = counts.get(packets.frame.track);
    if (!count) return;
    count.packets += packets.offsets.length;
    count.bytes += packets.bytes.length;
    stream.bytesSent += packets.bytes.length;
  }

  #sendBacklog(): void {
    const backlog = this.#backlog;
    if (!backlog) return;
    let left = Math.max(burstBytes, this.#backlogBytes >> 4);
    let sent = 0;
    while (left > 0 && sent < backlog.length) {
      const packets = backlog[sent++] as FramePackets;
      left -= packets.bytes.length;
      this.#backlogBytes -= packets.bytes.length;
      this.#send(packets);
    }
    backlog.splice(0, sent);
    if (backlog.length === 0) this.#backlog = undefined;
    else this.#timer = setTimeout(() => this.#sendBacklog(), burstIntervalMs);
  }

  onReport(track: number, report: Buffer): void {
    if (this.#faults.isActive) this.#faults.report(track, report);
    else this.#options.transports.get(track)?.sendReport(report);
  }

  onEnd(reason: string): void {
    clearTimeout(this.#timer);
    this.#backlog = undefined;
    this.#faults.stop();
    this.#remove = undefined;
    this.#options.onEnd(reason);
  }
}
