import { randomInt } from "node:crypto";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { errorText } from "../../core/service/service-error.ts";
import { compactFrame } from "../media/frame-memory.ts";
import type { Frame, FramePackets, Packetizer, Track } from "../media/track.ts";
import { payloadTypeOf } from "../protocol/media-description.ts";
import { type AacGroups, aacGroupsOf, joined } from "../rtp/aac-groups.ts";
import { createPacketizer } from "../rtp/create-packetizer.ts";
import { DelayedMedia } from "./delayed-media.ts";
import { KeptCursor, type KeptFrame, KeptFrames } from "./kept-frames.ts";
import { StreamMemory } from "./stream-memory.ts";
import type { FrameReader, PacketReader, ReaderPlace } from "./stream-readers.ts";
import { writeGoodbye, writeSenderReport } from "./stream-reports.ts";

/** Where a source's timestamps stand on the clock. */
export interface SourceClock {
  /** Of a track, at a time of `performance.now()`. Linear but for steps where the source itself makes one. */
  ptsAt(track: number, atMs: number): number;
}

export interface StreamLimits {
  /** Largest RTP packet. */
  readonly packetBytes: number;
  /** Memory of what is kept since the last key frame; a longer group of pictures is not kept. */
  readonly keptBytes: number;
  /** Memory of all streams: what they keep, and what is received in part. */
  readonly media: SharedBudget;
}

export interface StreamOptions extends StreamLimits {
  readonly tracks: readonly Track[];
  readonly clock: SourceClock;
  /** The address of who sends it; what is the service's own has none. */
  readonly owner?: string;
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

const reportIntervalMs = 5_000;

/** What flows in a path: frames of one source, for any number of readers. */
export class Stream {
  readonly counts: readonly TrackCounts[];
  /** Of the current source. */
  clock: SourceClock;
  /** Of the current source: gives up the pictures that it has received in part. */
  giveUpBegun: (() => void) | undefined;
  readonly owner: string;
  /** Of its description, which changes with the parameter sets. */
  readonly id = randomInt(2 ** 40);
  version = 1;
  /** Beside one for each that reads it: one reader may read for several, or for some that are counted already. */
  moreReaders = 0;
  /** To readers, counted by them. */
  bytesSent = 0;
  /** How often slow readers were skipped to the next key frame, counted by them. */
  skips = 0;
  /** What those did not get, counted by them. */
  packetsUnsent = 0;
  /** Since when the source sends without a pause, by `performance.now()`; infinite while it has yet to send. */
  runsSince = Number.POSITIVE_INFINITY;
  readonly #tracks: Track[];
  readonly #packetizers: readonly Packetizer[];
  /** Of tracks of AAC. */
  readonly #groups: (AacGroups<KeptFrame> | undefined)[];
  readonly #options: StreamOptions;
  readonly #frameReaders = new Set<FrameReader>();
  readonly #packetReaders = new Set<PacketReader>();
  /** They still take what is kept. */
  readonly #joining = new Set<FrameReader | PacketReader>();
  /** They do not read it now. */
  readonly #holders = new Set<(reason: string) => void>();
  /** The track whose key frames begin a group of pictures; -1 in a stream of audio only. */
  readonly #keyTrack: number;
  readonly #kept: KeptFrames;
  readonly #memory: StreamMemory;
  readonly delayed = new DelayedMedia((bytes) => this.#memory.set("delayed", bytes));
  #keyFrames = 0;
  /** Where the group of pictures began; undefined before its key frame, and where the source has paused since. */
  #group: { readonly frames: number; readonly dts: number } | undefined;
  #groupFrames = 0;
  #groupSeconds = 0;
  #reportTimer: NodeJS.Timeout | undefined;
  #ended: string | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.owner = options.owner ?? "";
    this.#memory = new StreamMemory(options.media, this.owner, () => {
      this.#kept.clear();
      this.giveUpBegun?.();
      this.delayed.giveUp();
    });
    this.#kept = new KeptFrames(options.keptBytes, (bytes) => this.#memory.set("kept", bytes));
    this.#tracks = [...options.tracks];
    this.#packetizers = options.tracks.map((track, index) =>
      createPacketizer(track, { track: index, payloadType: payloadTypeOf(track, index), packetBytes: options.packetBytes }),
    );
    this.#groups = options.tracks.map((track) => aacGroupsOf(track, options.packetBytes));
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
    return this.#frameReaders.size + this.#packetReaders.size + this.#joining.size + this.moreReaders;
  }

  /** It sends reports. */
  get hasPacketReaders(): boolean {
    return this.#reportTimer !== undefined;
  }

  get keyFrames(): number {
    return this.#keyFrames;
  }

  /** Pictures from one key frame to the next; 0 before the second one. */
  get groupFrames(): number {
    return this.#groupFrames;
  }

  /** By their timestamps; 0 before the second key frame. */
  get groupSeconds(): number {
    return this.#groupSeconds;
  }

  /** Of the last key frame, while the frames since then are kept. */
  get keyPackets(): FramePackets | undefined {
    const packets = this.#kept.all[0]?.packets;
    return packets === "shared" ? undefined : packets;
  }

  /** With which the kept frames begin. */
  get keyFrame(): Frame | undefined {
    return this.#kept.all[0]?.frame;
  }

  /** A new reader gets frames at once. */
  get hasKept(): boolean {
    return this.#kept.all.length > 0;
  }

  /** Memory of the frames that a new reader begins with. */
  get keptBytes(): number {
    return this.#kept.bytes;
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
    this.#sendGroup(index);
    this.#groups[index] = aacGroupsOf(track, this.#options.packetBytes);
    this.#tracks[index] = track;
    this.version++;
    this.#packetizers[index]?.setTrack(track);
    for (const reader of [...this.#frameReaders, ...this.#joining])
      if ("onTrack" in reader) this.#give(reader, () => reader.onTrack?.(index, track));
  }

  publish(received: Frame): void {
    if (this.#ended !== undefined) return;
    const frame = compactFrame(received);
    if (this.runsSince === Number.POSITIVE_INFINITY) this.runsSince = performance.now();
    const counts = this.counts[frame.track] as TrackCounts;
    let bytes = 0;
    for (const unit of frame.units) bytes += unit.length;
    counts.frames++;
    counts.bytes += bytes;
    const isKey = frame.track === this.#keyTrack && frame.isKey;
    if (isKey) {
      // A new reader begins with this picture: no packet has sound of both sides.
      this.#sendGroups();
      this.#keyFrames++;
      if (this.#group) {
        this.#groupFrames = counts.frames - this.#group.frames;
        this.#groupSeconds = (frame.dts - this.#group.dts) / (this.#tracks[frame.track]?.clockRate ?? 1);
      }
      this.#group = { frames: counts.frames, dts: frame.dts };
    }
    const kept: KeptFrame = { frame, packets: undefined };
    if (this.#keyTrack >= 0) this.#kept.add(kept, isKey);
    if (this.#packetReaders.size > 0) {
      const groups = this.#groups[frame.track];
      for (const group of groups?.add(kept) ?? [[kept]]) this.#send(group);
    }
    for (const reader of this.#frameReaders) this.#give(reader, () => reader.onFrame(frame));
  }

  /** To all readers of packets; several frames share one. */
  #send(group: readonly KeptFrame[]): void {
    const [first] = group;
    if (!first) return;
    const packets = this.#packetize(group.length === 1 ? first.frame : joined(group.map(({ frame }) => frame)));
    for (const kept of group) kept.packets = kept === first ? packets : "shared";
    this.#kept.packetized(packets);
    for (const reader of this.#packetReaders) this.#give(reader, () => reader.onPackets(packets));
  }

  #sendGroup(track: number): void {
    this.#send(this.#groups[track]?.take() ?? []);
  }

  #sendGroups(): void {
    for (const track of this.#groups.keys()) this.#sendGroup(track);
  }

  /** An error of one reader ends that reader: the source and the others go on. */
  #give(reader: FrameReader | PacketReader, give: () => void): void {
    try {
      give();
    } catch (error) {
      this.#fail(reader, error);
    }
  }

  #fail(reader: FrameReader | PacketReader, error: unknown): void {
    this.#remove(reader);
    reader.onEnd(errorText(error));
  }

  /** What its source has received in part. */
  setBegun(bytes: number): void {
    this.#memory.set("begun", bytes);
  }

  #packetize(frame: Frame): FramePackets {
    const packets = (this.#packetizers[frame.track] as Packetizer).packetize(frame);
    const counts = this.counts[frame.track] as TrackCounts;
    counts.packets += packets.offsets.length;
    counts.payloadBytes += packets.payloadBytes;
    return packets;
  }

  /** The reader gets the frames since the last key frame at once. Returns the function that removes it. */
  addFrameReader(reader: FrameReader): () => void {
    const { next, remove } = this.joinFrames(reader);
    for (let frame = next(); frame; frame = next()) reader.onFrame(frame);
    return remove;
  }

  /** The reader takes the frames since the last key frame, and is told of those that follow. */
  joinFrames(reader: FrameReader): ReaderPlace<Frame> {
    return this.#join(reader, this.#frameReaders, ({ frame }) => frame);
  }

  /** The reader takes the packets since the last key frame; the following ones, of which it is told, continue their sequence numbers. */
  addPacketReader(reader: PacketReader): ReaderPlace<FramePackets> {
    this.#reportTimer ??= setInterval(() => this.#sendReports(), reportIntervalMs);
    return this.#join(reader, this.#packetReaders, (kept) => this.#packetsOf(kept));
  }

  #join<Reader extends FrameReader | PacketReader, Item>(
    reader: Reader,
    readers: Set<Reader>,
    itemOf: (kept: KeptFrame) => Item | undefined,
  ): ReaderPlace<Item> {
    const cursor = new KeptCursor(this.#kept);
    const hasKept = this.#kept.all.length > 0;
    if (hasKept) this.#joining.add(reader);
    else readers.add(reader);
    this.#countReaders();
    return {
      next: () => {
        if (!this.#joining.has(reader)) return undefined;
        try {
          if (cursor.isPassed) reader.onGap?.();
          for (let kept = cursor.take(); kept; kept = cursor.take()) {
            const item = itemOf(kept);
            if (item) return item;
          }
        } catch (error) {
          this.#fail(reader, error);
          return undefined;
        }
        this.#joining.delete(reader);
        readers.add(reader);
        return undefined;
      },
      remove: () => this.#remove(reader),
    };
  }

  /** Frames become packets in their order: the first who comes to one makes them. Undefined for those that are in a packet before. */
  #packetsOf(kept: KeptFrame): FramePackets | undefined {
    // It waits for others with which it shares a packet.
    if (kept.packets === undefined) this.#sendGroups();
    if (kept.packets === undefined) {
      kept.packets = this.#packetize(kept.frame);
      this.#kept.packetized(kept.packets);
    }
    return kept.packets === "shared" ? undefined : kept.packets;
  }

  #remove(reader: FrameReader | PacketReader): void {
    const isRemoved = [this.#joining, this.#frameReaders, this.#packetReaders].some((readers: Set<unknown>) => readers.delete(reader));
    if (!isRemoved) return;
    if (this.#packetReaders.size === 0) {
      // Nobody wants what waits; those who come later get what is kept.
      for (const groups of this.#groups) groups?.take();
    }
    if (this.#packetReaders.size + this.#joining.size === 0) this.#stopReports();
    this.#countReaders();
  }

  #countReaders(): void {
    this.#options.onReaders?.(this.readers);
  }

  /** Calls back when it ends, also where nobody reads it. Returns the function that ends that. */
  whenEnded(callBack: (reason: string) => void): () => void {
    this.#holders.add(callBack);
    return () => void this.#holders.delete(callBack);
  }

  /** The sequence number and timestamp of the first packet that a new reader gets of a track (RFC 2326 §12.33). */
  positionOf(track: number): { readonly sequence: number; readonly timestamp: number } {
    const packetizer = this.#packetizers[track] as Packetizer;
    const first = this.#kept.all.find(({ frame }) => frame.track === track);
    const packets = first?.packets;
    return {
      sequence: packets === undefined || packets === "shared" ? packetizer.sequence : packets.sequence,
      timestamp: packetizer.timestamp(Math.round(first?.frame.pts ?? this.clock.ptsAt(track, performance.now()))),
    };
  }

  senderReport(track: number, atMs = performance.now()): Buffer {
    const pts = Math.round(this.clock.ptsAt(track, atMs));
    return writeSenderReport(this.#packetizers[track] as Packetizer, this.counts[track] as TrackCounts, pts, atMs);
  }

  goodbye(track: number, reason: string): Buffer {
    return writeGoodbye(this.#packetizers[track] as Packetizer, reason);
  }

  #sendReports(): void {
    const now = performance.now();
    for (const track of this.#tracks.keys()) {
      const report = this.senderReport(track, now);
      for (const reader of [...this.#packetReaders, ...this.#joining])
        if ("onReport" in reader) this.#give(reader, () => reader.onReport(track, report));
    }
  }

  #stopReports(): void {
    clearInterval(this.#reportTimer);
    this.#reportTimer = undefined;
  }

  /** The source pauses: the kept frames are no longer current, and the pause is no part of a group of pictures. */
  forget(): void {
    this.#kept.clear();
    this.#group = undefined;
    this.runsSince = Number.POSITIVE_INFINITY;
  }

  /** Ends it for all readers. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#sendGroups();
    this.#ended = reason;
    this.#stopReports();
    this.forget();
    this.#memory.close();
    const readers = [...this.#packetReaders, ...this.#frameReaders, ...this.#joining];
    this.#packetReaders.clear();
    this.#frameReaders.clear();
    this.#joining.clear();
    for (const reader of readers) reader.onEnd(reason);
    for (const callBack of this.#holders) callBack(reason);
    this.#holders.clear();
  }
}
