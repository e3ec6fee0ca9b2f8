import type { LeftOutTrack, WebTrack } from "../../../../contract/services/rtsp-media.ts";
import { parseRtcp } from "../../../core/rtp/rtcp.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { WorkConnection } from "../../../core/turns/work-connection.ts";
import { WorkQueue } from "../../../core/turns/work-queue.ts";
import type { PeerTransport } from "../transport/peer-transport.ts";
import type { FeedFrame, FeedViewer, MediaClock, PathFeed, PathFeeds } from "./path-feed.ts";
import { RtpTrackSender } from "./rtp-track-sender.ts";

export interface WhepTrack {
  /** Its index in the feed. */
  readonly index: number;
  readonly track: WebTrack;
  readonly payloadType: number;
}

export interface WhepSessionOptions {
  readonly path: string;
  readonly feeds: PathFeeds;
  readonly tracks: readonly WhepTrack[];
  readonly leftOut: readonly LeftOutTrack[];
  /** What is due is sent in its turns. */
  readonly work: WorkConnection;
  /** What waits for its turn, or behind what is kept; beyond it the viewer waits for the next key frame. */
  readonly mostWaitingBytes: number;
  readonly onEnd: (reason: string) => void;
}

/** Packets that are sent in one turn where a whole group of pictures is due, and the time between two turns. */
const burstPackets = 64;
const burstMs = 4;
const leastReplayMs = 500;
const cname = "backlot";

/** A browser that plays a path. */
export class WhepSession implements FeedViewer {
  readonly leftOut: readonly LeftOutTrack[];
  /** How often it asked for a key frame. */
  keyFrameRequests = 0;
  readonly #options: WhepSessionOptions;
  readonly #transport: PeerTransport;
  /** By the index of the track in the feed. */
  readonly #senders: ReadonlyMap<number, RtpTrackSender>;
  readonly #queue: WorkQueue;
  #feed: PathFeed | undefined;
  #waitsForKey = true;
  /** Frames of pictures that are due. */
  #backlog: FeedFrame[] = [];
  #backlogBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #replayedMs = Number.NEGATIVE_INFINITY;

  constructor(transport: PeerTransport, options: WhepSessionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.leftOut = options.leftOut;
    this.#queue = new WorkQueue(options.work, (error) => options.onEnd(errorText(error)));
    this.#senders = new Map(
      options.tracks.map(({ index, track, payloadType }) => [index, new RtpTrackSender(track, payloadType, transport)]),
    );
  }

  get senders(): readonly RtpTrackSender[] {
    return [...this.#senders.values()];
  }

  senderOf(index: number): RtpTrackSender | undefined {
    return this.#senders.get(index);
  }

  /** The transport is connected: media may be sent. */
  start(): void {
    this.#feed = this.#options.feeds.join(this.#options.path, this);
    if (this.#feed.clock) this.onClock(this.#feed.clock);
    this.#replay();
  }

  /** From the last key frame on; where there is none, the source is asked for one. */
  #replay(): void {
    this.#replayedMs = performance.now();
    const kept = this.#feed?.kept ?? [];
    if (kept.length === 0) {
      this.#waitsForKey = true;
      this.#feed?.requestKeyFrame();
      return;
    }
    this.#waitsForKey = false;
    this.#backlog = [...kept];
    this.#backlogBytes = kept.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    this.#sendBacklog();
  }

  #sendBacklog(): void {
    clearTimeout(this.#timer);
    let packets = 0;
    while (packets < burstPackets && this.#queue.bytes === 0) {
      const frame = this.#backlog.shift();
      if (!frame) return;
      this.#backlogBytes -= frame.heldBytes;
      packets += frame.packets.length;
      this.#send(frame);
    }
    this.#timer = setTimeout(() => this.#sendBacklog(), burstMs);
  }

  onFrame(frame: FeedFrame): void {
    const sender = this.#senders.get(frame.track);
    if (!sender) return;
    const isBehind = this.#queue.bytes > this.#options.mostWaitingBytes;
    if (sender.track.kind === "audio") {
      if (!isBehind) this.#send(frame);
      return;
    }
    if (isBehind) this.#waitsForKey = true;
    if (isBehind || (this.#waitsForKey && !frame.isKey)) return;
    this.#waitsForKey = false;
    if (this.#backlog.length === 0) this.#send(frame);
    else if (this.#backlogBytes <= 2 * this.#options.mostWaitingBytes) {
      this.#backlog.push(frame);
      this.#backlogBytes += frame.heldBytes;
    } else {
      this.#backlog = [];
      this.#waitsForKey = true;
    }
  }

  #send({ track, packets, heldBytes }: FeedFrame): void {
    const sender = this.#senders.get(track);
    if (sender) this.#queue.add(heldBytes, sender.send(packets));
  }

  onClock(clock: MediaClock): void {
    for (const [index, sender] of this.#senders) {
      const timestamp = clock.timestamps[index];
      if (timestamp !== undefined && sender.packets > 0) this.#transport.sendRtcp(sender.senderReport(clock, timestamp, cname));
    }
  }

  onEnd(reason: string): void {
    this.#options.onEnd(reason);
  }

  receiveRtcp(bytes: Buffer): void {
    const senderOf = (ssrc: number) => this.senders.find((sender) => sender.ssrc === ssrc);
    for (const packet of parseRtcp(bytes) ?? []) {
      switch (packet.type) {
        case "sender-report":
        case "receiver-report":
          for (const report of packet.reports) senderOf(report.ssrc)?.report(report);
          break;
        case "nack": {
          const sender = senderOf(packet.mediaSsrc);
          if (sender?.isWantedAgain(packet.sequences)) this.#queue.add(0, sender.retransmit());
          break;
        }
        case "picture-loss":
        case "full-intra":
          this.#keyFrameWanted();
          break;
        case "source-description":
        case "goodbye":
        case "bitrate-estimate":
          break;
        default:
          packet satisfies never;
      }
    }
  }

  #keyFrameWanted(): void {
    this.keyFrameRequests++;
    if (this.#backlog.length > 0 || performance.now() - this.#replayedMs < leastReplayMs) return;
    this.#feed?.requestKeyFrame();
    this.#replay();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#backlog = [];
    this.#queue.clear();
    if (this.#feed) this.#options.feeds.leave(this.#feed, this);
    this.#feed = undefined;
  }
}
