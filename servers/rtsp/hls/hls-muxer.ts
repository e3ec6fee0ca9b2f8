import { memoryOf } from "../media/frame-memory.ts";
import type { Frame, Track } from "../media/track.ts";
import { initSegment, isMp4Track, type Mp4Sample, type Mp4Track, mediaSegment } from "./fragmented-mp4.ts";

export interface HlsOptions {
  /** A segment ends at the first key frame after this time. */
  readonly segmentSeconds: number;
  /** How many the playlist names; a few older ones are kept for players that are about to fetch them. */
  readonly segmentCount: number;
  /** Of all kept segments and the one in work. */
  readonly mostBytes: number;
  /** A segment was finished. */
  readonly onSegment?: () => void;
}

interface Segment {
  readonly sequence: number;
  readonly seconds: number;
  readonly bytes: Buffer;
  /** Something before it was left out. */
  readonly isAfterGap: boolean;
}

interface OpenTrack {
  readonly index: number;
  readonly clockRate: number;
  samples: Mp4Sample[];
  /** Waits for its duration, which the next one decides. */
  last: Frame | undefined;
  /** Of the first sample. */
  decodeTime: number;
  /** The decoding time of the newest frame. */
  newest: number;
}

const keptBehindPlaylist = 3;
/** Players begin three target durations before the end (§6.3.3), and Chromium's own one plays no playlist with fewer. */
const enoughSegments = 3;
/** What has no key frame for longer is no stream that can be cut. */
const longestSegmentSeconds = 60;
/** Times that go back by more have begun anew, as those of a publisher whose clock was set. */
const longestStepBackSeconds = 1;
/** Written in one step: more than pictures and sound of the longest segment are. */
const mostFrames = 10_000;

/**
 * HLS with fragmented MP4 (RFC 8216bis): an init segment, a playlist of the latest segments, and these. A segment begins with a key frame and
 * ends before the next one. Throws RangeError where no track has a place in MP4, or one has no parameter sets.
 */
export class HlsMuxer {
  readonly #init: Buffer;
  readonly #initName: string;
  /** Frames that were left out: before the first key frame, or in segments that became too large. */
  dropped = 0;
  readonly #options: HlsOptions;
  readonly #tracks: readonly Mp4Track[];
  readonly #open: readonly (OpenTrack | undefined)[];
  readonly #cutting: OpenTrack;
  #segments: Segment[] = [];
  /** Written once for all who wait for it. */
  #playlist: string | undefined;
  #sequence = 0;
  #bytes = 0;
  #openBytes = 0;
  #openFrames = 0;
  /** The moment that is zero in the segments. */
  #startSeconds: number | undefined;
  #cutSeconds = 0;
  /** Of all segments, also of publishers before: the target duration may not become shorter (§4.4.3.1). */
  #longestSeconds: number;
  #isWaiting = true;
  #isAfterGap = false;
  readonly #isContinued: boolean;
  /** Of segments that are no longer kept. */
  #forgottenGaps = 0;

  /** `before` made the segments until now, of tracks with other parameter sets or of another publisher: the numbers go on. */
  constructor(tracks: readonly Track[], options: HlsOptions, before?: HlsMuxer) {
    this.#options = options;
    this.#longestSeconds = before ? before.#longestSeconds : options.segmentSeconds;
    this.#tracks = tracks.filter(isMp4Track);
    let index = 0;
    this.#open = tracks.map((track) =>
      isMp4Track(track)
        ? { index: index++, clockRate: track.clockRate, samples: [], last: undefined, decodeTime: 0, newest: Number.NEGATIVE_INFINITY }
        : undefined,
    );
    const videoIndex = tracks.findIndex(({ kind }) => kind === "video");
    const cutting = this.#open[videoIndex] ?? this.#open.find((track) => track);
    if (!cutting) throw new RangeError("The stream has no track that can be in MP4.");
    this.#cutting = cutting;
    this.#sequence = before ? before.#sequence : 0;
    this.#forgottenGaps = before ? before.#forgottenGaps + before.#segments.filter(({ isAfterGap }) => isAfterGap).length : 0;
    this.#isContinued = this.#isAfterGap = this.#sequence > 0;
    this.#initName = this.#sequence === 0 ? "init.mp4" : `init-${this.#sequence}.mp4`;
    this.#init = initSegment(this.#tracks);
  }

  push(frame: Frame): void {
    const track = this.#open[frame.track];
    if (!track) return;
    if (frame.dts < track.newest - longestStepBackSeconds * track.clockRate) this.#beginAnew();
    track.newest = frame.dts;
    const seconds = frame.dts / track.clockRate;
    if (track === this.#cutting && frame.isKey) this.#atKey(seconds);
    if (this.#isWaiting || seconds < (this.#startSeconds ?? 0)) {
      this.dropped++;
      return;
    }
    this.#add(track, frame);
    const { mostBytes } = this.#options;
    const isTooLong = seconds - this.#cutSeconds > longestSegmentSeconds || this.#openFrames > mostFrames;
    if (isTooLong || this.#openBytes > mostBytes / 2) this.#giveUp();
  }

  /** A player that begins now has enough segments. One that was there before another publisher has earlier ones. */
  get hasEnough(): boolean {
    return (
      this.#segments.length >= Math.min(enoughSegments, this.#options.segmentCount) || (this.#isContinued && this.#segments.length > 0)
    );
  }

  /** Undefined until there is a segment. */
  playlist(): string | undefined {
    this.#playlist ??= this.#writePlaylist();
    return this.#playlist;
  }

  #writePlaylist(): string | undefined {
    const listed = this.#segments.slice(-this.#options.segmentCount);
    const [first] = listed;
    if (!first) return undefined;
    const gapsBefore = this.#segments.filter(({ sequence, isAfterGap }) => isAfterGap && sequence < first.sequence).length;
    const lines = [
      "#EXTM3U",
      "#EXT-X-VERSION:7",
      `#EXT-X-TARGETDURATION:${Math.ceil(this.#longestSeconds)}`,
      `#EXT-X-MEDIA-SEQUENCE:${first.sequence}`,
      `#EXT-X-DISCONTINUITY-SEQUENCE:${this.#forgottenGaps + gapsBefore}`,
      "#EXT-X-INDEPENDENT-SEGMENTS",
      `#EXT-X-MAP:URI="${this.#initName}"`,
      ...listed.flatMap(({ sequence, seconds, isAfterGap }) => [
        ...(isAfterGap ? ["#EXT-X-DISCONTINUITY"] : []),
        `#EXTINF:${seconds.toFixed(5)},`,
        segmentName(sequence),
      ]),
    ];
    return `${lines.join("\n")}\n`;
  }

  /** The init segment or another one, by its name in the playlist. */
  file(name: string): Buffer | undefined {
    if (name === this.#initName) return this.#init;
    return this.#segments.find(({ sequence }) => segmentName(sequence) === name)?.bytes;
  }

  /** Gives up so much, or all: the oldest segments first. */
  lose(excess: number): void {
    const target = this.keptBytes - excess;
    while (this.keptBytes > target && this.#segments.length > 0) this.#forgetOldest();
    if (this.keptBytes > target) this.#giveUp();
  }

  get keptBytes(): number {
    return this.#bytes + this.#openBytes;
  }

  #atKey(seconds: number): void {
    if (this.#isWaiting) {
      this.#isWaiting = false;
      this.#startSeconds ??= seconds;
      this.#cutSeconds = seconds;
    } else if (seconds - this.#cutSeconds >= this.#options.segmentSeconds - cutTolerance) {
      this.#finishSegment(seconds);
    }
  }

  #add(track: OpenTrack, frame: Frame): void {
    this.#endLast(track, frame.dts);
    track.last = frame;
    if (track.samples.length === 0) track.decodeTime = frame.dts;
    this.#openBytes += memoryOf(frame);
    this.#openFrames++;
  }

  /** Gives the waiting frame of a track its duration. */
  #endLast(track: OpenTrack, dts: number): void {
    if (track.last === undefined) return;
    track.samples.push({ frame: track.last, duration: Math.max(0, Math.min(0xffff_ffff, dts - track.last.dts)) });
    track.last = undefined;
  }

  #finishSegment(seconds: number): void {
    this.#endLast(this.#cutting, Math.round(seconds * this.#cutting.clockRate));
    const used = this.#open.flatMap((track) => (track && track.samples.length > 0 ? [track] : []));
    const start = this.#startSeconds ?? 0;
    const fragments = used.map(({ index, samples, decodeTime, clockRate }) => ({
      track: index,
      samples,
      decodeTime: Math.max(0, decodeTime - Math.round(start * clockRate)),
    }));
    const bytes = mediaSegment(this.#sequence + 1, this.#tracks, fragments);
    this.#segments.push({ sequence: this.#sequence++, seconds: seconds - this.#cutSeconds, bytes, isAfterGap: this.#isAfterGap });
    this.#playlist = undefined;
    this.#longestSeconds = Math.max(this.#longestSeconds, seconds - this.#cutSeconds);
    this.#isAfterGap = false;
    this.#bytes += bytes.length;
    this.#cutSeconds = seconds;
    this.#clearOpen();
    this.#forgetOld();
    this.#options.onSegment?.();
  }

  /** What waits for its duration stays: it begins the next segment. */
  #clearOpen(): void {
    this.#openBytes = 0;
    this.#openFrames = 0;
    for (const track of this.#open) {
      if (!track) continue;
      track.samples = [];
      if (track.last) track.decodeTime = track.last.dts;
    }
  }

  #forgetOld(): void {
    const { segmentCount, mostBytes } = this.#options;
    while (this.#segments.length > segmentCount + keptBehindPlaylist || (this.#bytes > mostBytes / 2 && this.#segments.length > 1)) {
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    this.#playlist = undefined;
    const oldest = this.#segments.shift();
    this.#bytes -= oldest?.bytes.length ?? 0;
    if (oldest?.isAfterGap) this.#forgottenGaps++;
  }

  /** Other tracks come to the new times later. */
  #beginAnew(): void {
    this.#giveUp();
    this.#startSeconds = undefined;
  }

  #giveUp(): void {
    for (const track of this.#open) {
      if (!track) continue;
      this.dropped += track.samples.length + (track.last ? 1 : 0);
      track.last = undefined;
    }
    this.#clearOpen();
    this.#isWaiting = true;
    this.#isAfterGap = true;
  }
}

/** A key frame that is due now may be a tick early. */
const cutTolerance = 0.02;

const segmentName = (sequence: number): string => `segment-${sequence}.m4s`;
