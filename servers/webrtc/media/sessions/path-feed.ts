import { type MediaItem, rtspProvided, type WebTrack } from "../../../../contract/services/rtsp-media.ts";
import { type BudgetShare, SharedBudget } from "../../../core/limits/shared-budget.ts";
import { rtpHeaderBytes } from "../../../core/rtp/rtp-packet.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { IncomingStream, PeerServices } from "../../../core/streams/peer-client.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";

/** The RTP times of each track at a moment, in milliseconds since the epoch. */
export type MediaClock = Extract<MediaItem, { type: "clock" }>;

/** What all viewers get of an RTP packet: numbers and sources are their own. */
export interface FeedPacket {
  readonly isMarked: boolean;
  readonly timestamp: number;
  readonly payload: Buffer;
}

export interface FeedFrame {
  readonly track: number;
  readonly isKey: boolean;
  readonly packets: readonly FeedPacket[];
  /** Of its memory. */
  readonly heldBytes: number;
}

/** Takes the frames of a path. */
export interface FeedViewer {
  onFrame(frame: FeedFrame): void;
  onClock(clock: MediaClock): void;
  onEnd(reason: string): void;
}

export interface FeedLimits {
  /** Largest RTP packet. */
  readonly packetBytes: number;
  /** Kept of each path since its last key frame. */
  readonly keptBytes: number;
  /** The same of all paths: beyond it those lose what is kept that have most. */
  readonly allKeptBytes: number;
}

export interface PathFeedsOptions extends FeedLimits {
  readonly services: PeerServices;
  /** Of all clients. */
  readonly turns: WorkTurns;
}

/** The paths of the RTSP service that somebody watches: each is received once, for all of its viewers. */
export class PathFeeds {
  readonly #options: PathFeedsOptions;
  readonly #feeds = new Map<string, PathFeed>();
  readonly #kept: SharedBudget;

  constructor(options: PathFeedsOptions) {
    this.#options = options;
    this.#kept = new SharedBudget(options.allKeptBytes);
  }

  /** The viewer gets what comes from now on. */
  join(path: string, viewer: FeedViewer): PathFeed {
    const feed = this.#feeds.get(path) ?? new PathFeed(path, this.#options, this.#kept, (ended) => this.#forget(ended));
    this.#feeds.set(path, feed);
    feed.viewers.add(viewer);
    void feed.tellPlayers();
    return feed;
  }

  leave(feed: PathFeed, viewer: FeedViewer): void {
    feed.viewers.delete(viewer);
    if (feed.viewers.size > 0) {
      void feed.tellPlayers();
      return;
    }
    feed.close();
    this.#forget(feed);
  }

  #forget(feed: PathFeed): void {
    if (this.#feeds.get(feed.path) === feed) this.#feeds.delete(feed.path);
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }
}

/** A group of pictures of several seconds comes at once. */
const credit = { items: 2_000, bytes: 16 << 20 };
const leastKeyFrameMs = 1_000;
/** What a kept frame and each of its packets count beside their bytes: a publisher may send frames of two bytes. */
const frameOverheadBytes = 1_024;
const packetOverheadBytes = 128;

export class PathFeed {
  readonly path: string;
  readonly viewers = new Set<FeedViewer>();
  tracks: readonly WebTrack[] = [];
  clock: MediaClock | undefined;
  /** Pictures since the last key frame; empty where they are too many, or before the first one. */
  kept: FeedFrame[] = [];
  readonly #options: PathFeedsOptions;
  readonly #incoming: IncomingStream<MediaItem>;
  readonly #onEnd: (feed: PathFeed) => void;
  readonly #share: BudgetShare;
  #keptBytes = 0;
  /** As the RTSP service knows them. */
  #toldPlayers = 1;
  #isTelling = false;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, options: PathFeedsOptions, allKept: SharedBudget, onEnd: (feed: PathFeed) => void) {
    this.path = path;
    this.#share = allKept.open("", () => this.#dropKept());
    this.#options = options;
    this.#onEnd = onEnd;
    this.#incoming = options.services.open(rtspProvided, "media", { path, packetBytes: options.packetBytes }, credit);
    void this.#read();
  }

  /** Of many that come and go, one message at a time says how many there are. */
  async tellPlayers(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let count = this.viewers.size; count > 0 && count !== this.#toldPlayers; count = this.viewers.size) {
      this.#toldPlayers = count;
      await this.#options.services.call(rtspProvided, "players", { path: this.path, count }).catch(() => {});
    }
    this.#isTelling = false;
  }

  close(): void {
    this.#incoming.cancel();
    this.#endKept();
  }

  #endKept(): void {
    this.#dropKept();
    this.#share.close();
  }

  #dropKept(): void {
    this.kept = [];
    this.#keptBytes = 0;
    this.#share.set(0);
  }

  async #read(): Promise<void> {
    let reason = "the stream has ended";
    try {
      for await (const { header, payload } of this.#incoming) {
        if (header.type === "end") reason = header.reason;
        else this.#take(header, payload);
      }
    } catch (error) {
      reason = errorText(error);
    }
    this.#onEnd(this);
    this.#endKept();
    // Hundreds may end with it.
    void this.#options.turns.each([...this.viewers], (viewer) => this.viewers.has(viewer) && viewer.onEnd(reason));
  }

  #take(item: Exclude<MediaItem, { type: "end" }>, payload: Uint8Array | undefined): void {
    switch (item.type) {
      case "tracks":
        this.tracks = item.tracks;
        return;
      case "clock":
        this.clock = item;
        for (const viewer of this.viewers) viewer.onClock(item);
        return;
      case "frame": {
        if (!payload) return;
        const packets = packetsOf(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
        const heldBytes = frameOverheadBytes + packets.length * packetOverheadBytes + payload.byteLength;
        const frame = { track: item.track, isKey: item.isKey, packets, heldBytes };
        this.#keep(frame);
        for (const viewer of this.viewers) viewer.onFrame(frame);
        return;
      }
      default:
        item satisfies never;
    }
  }

  #keep(frame: FeedFrame): void {
    if (this.tracks[frame.track]?.kind !== "video") return;
    if (frame.isKey) this.#dropKept();
    else if (this.kept.length === 0) return;
    if (this.#keptBytes + frame.heldBytes > this.#options.keptBytes) {
      this.#dropKept();
      return;
    }
    this.kept.push(frame);
    this.#keptBytes += frame.heldBytes;
    this.#share.set(this.#keptBytes);
  }

  /** Asks the source for a key frame; not more often than once a second. */
  requestKeyFrame(): void {
    const now = performance.now();
    if (now - this.#askedMs < leastKeyFrameMs) return;
    this.#askedMs = now;
    // Where the RTSP service has stopped, the feed ends.
    this.#options.services.call(rtspProvided, "keyFrame", { path: this.path }).catch(() => {});
  }
}

const interleavedBytes = 4;

/** Packets without contributing sources and extensions, each with the four bytes of an interleaved connection before it. */
function packetsOf(bytes: Buffer): FeedPacket[] {
  const packets: FeedPacket[] = [];
  for (let at = 0; at + interleavedBytes + rtpHeaderBytes <= bytes.length; ) {
    const start = at + interleavedBytes;
    at = start + bytes.readUInt16BE(at + 2);
    packets.push({
      isMarked: (bytes[start + 1] as number) >= 0x80,
      timestamp: bytes.readUInt32BE(start + 4),
      payload: bytes.subarray(start + rtpHeaderBytes, at),
    });
  }
  return packets;
}
