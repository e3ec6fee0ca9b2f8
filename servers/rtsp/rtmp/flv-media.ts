import { errorText } from "../../core/service/service-error.ts";
import { parseAacConfig } from "../media/aac.ts";
import { compactFrame, memoryOf } from "../media/frame-memory.ts";
import { h264Nal, h264NalType } from "../media/h264.ts";
import { h265NalType, isH265KeyType } from "../media/h265.ts";
import { BoxReader } from "../media/mp4/box.ts";
import { readAvcConfig, readHevcConfig } from "../media/mp4/sample-entry.ts";
import { splitLengthPrefixed } from "../media/nal-units.ts";
import { separateParameterSets } from "../media/parameter-sets.ts";
import type { AacTrack, Frame, Track, VideoTrack } from "../media/track.ts";
import { AmfError, type AmfValue, readAmf } from "./amf0.ts";
import { messageType } from "./chunk-stream.ts";

/** The publisher cannot go on: its media is wrong, or of a kind that is not streamed. */
export class FlvError extends Error {}

export interface FlvMediaOptions {
  /** All tracks are known. Frames follow. */
  onTracks(tracks: readonly Track[]): void;
  onTrack(index: number, track: Track): void;
  onFrame(frame: Frame): void;
  /** Bytes of memory of the frames that wait until all tracks are known. */
  onWaiting(bytes: number): void;
}

/** Frames that wait until all tracks are known. */
const mostWaitingMs = 2_000;
const mostWaitingBytes = 8 << 20;
/** Times of audio are rounded to milliseconds: a difference below this is no gap. */
const roundedSeconds = 0.02;
/** A larger step of the time is one of the client's clock, not of its media. */
const longestJumpMs = 10_000;

/** The metadata of encoders has some hundred bytes; longer data is passed over. */
const mostDataBytes = 16 << 10;
/** Of parameter sets. */
const mostVideoConfigBytes = 16 << 10;
/** AudioSpecificConfig, with a program config element. */
const mostAudioConfigBytes = 512;

type Kind = "video" | "audio";

interface TrackState<Known extends Track> {
  readonly track: Known;
  /** Its place among the tracks of the stream; undefined where it came too late. */
  index: number | undefined;
}

interface VideoState extends TrackState<VideoTrack> {
  readonly lengthBytes: 1 | 2 | 4;
}

interface AudioState extends TrackState<AacTrack> {
  readonly samplesPerFrame: number;
  /** pts of the next frame, where sound goes on without a gap. */
  nextPts: number | undefined;
}

/**
 * Makes frames of the audio, video and data messages of RTMP, which are tags of FLV (Adobe Flash Video File Format 10.1, annex E) with the
 * additions of Enhanced RTMP for H.265. Throws an FlvError.
 */
export class FlvMedia {
  readonly #options: FlvMediaOptions;
  #video: VideoState | undefined;
  #audio: AudioState | undefined;
  /** What the metadata announces; undefined before it came. */
  #announced: ReadonlySet<Kind> | undefined;
  #hasTracks = false;
  #waiting: { readonly kind: Kind; readonly frame: Omit<Frame, "track"> }[] = [];
  #waitingBytes = 0;
  #firstMs: number | undefined;
  /** From times modulo 2^32 to ones that go on. */
  #lastTimestamp: number | undefined;
  #lastMs = 0;

  constructor(options: FlvMediaOptions) {
    this.#options = options;
  }

  push(kind: number, timestamp: number, payload: Buffer): void {
    try {
      if (kind === messageType.data) {
        if (payload.length <= mostDataBytes) this.#data(readAmf(payload));
      } else if (payload.length > 0) {
        const atMs = this.#continuous(timestamp);
        if (kind === messageType.video) this.#videoTag(payload, atMs);
        else this.#audioTag(payload, atMs);
        this.#checkWaiting(atMs);
      }
    } catch (error) {
      if (error instanceof RangeError || error instanceof AmfError) throw new FlvError(error.message);
      throw error;
    }
  }

  /** Nothing more may be pushed. */
  clear(): void {
    this.#waiting = [];
  }

  #data(values: readonly AmfValue[]): void {
    const [first, second, third] = values;
    const [name, fields] = first === "@setDataFrame" ? [second, third] : [first, second];
    if (name !== "onMetaData" || typeof fields !== "object" || fields === null) return;
    const announced = new Set<Kind>();
    if ("videocodecid" in fields) announced.add("video");
    if ("audiocodecid" in fields) announced.add("audio");
    if (announced.size > 0) this.#announced = announced;
  }

  /** Times of both tracks are on one clock; it starts at a time of the client's own. */
  #continuous(timestamp: number): number {
    const passedMs = this.#lastTimestamp === undefined ? 0 : (timestamp - this.#lastTimestamp) | 0;
    this.#lastMs += Math.abs(passedMs) > longestJumpMs ? 0 : passedMs;
    this.#lastTimestamp = timestamp;
    this.#firstMs ??= this.#lastMs;
    return this.#lastMs;
  }

  #videoTag(payload: Buffer, atMs: number): void {
    const first = payload[0] as number;
    if ((first & 0x80) !== 0) {
      this.#enhancedVideo(payload, atMs);
      return;
    }
    const codec = first & 0x0f;
    const isInformation = first >> 4 === 5;
    if (isInformation) return;
    if (codec !== 7 && codec !== 12)
      throw new FlvError(`it sends ${videoNames[codec] ?? `video of the kind ${codec}`}; H.264 or H.265 is needed`);
    if (payload.length < 5) throw new FlvError("a message of video ends too early");
    const packet = payload[1];
    const composition = payload.readIntBE(2, 3);
    const body = payload.subarray(5);
    if (packet === 0) this.#videoConfig(codec === 7 ? "h264" : "h265", body);
    else if (packet === 1) this.#picture(body, atMs, composition);
  }

  /** Enhanced RTMP v1, "Enhanced Video". */
  #enhancedVideo(payload: Buffer, atMs: number): void {
    const packet = (payload[0] as number) & 0x0f;
    if (payload.length < 5) throw new FlvError("a message of video ends too early");
    const fourCc = payload.toString("latin1", 1, 5);
    if (fourCc !== "hvc1" && fourCc !== "avc1")
      throw new FlvError(`it sends ${videoNames[fourCc] ?? "video of an unknown kind"}; H.264 or H.265 is needed`);
    const body = payload.subarray(5);
    if (packet === 0) this.#videoConfig(fourCc === "avc1" ? "h264" : "h265", body);
    else if (packet === 1) {
      if (body.length < 3) throw new FlvError("a message of video ends too early");
      this.#picture(body.subarray(3), atMs, body.readIntBE(0, 3));
    } else if (packet === 3) this.#picture(body, atMs, 0);
  }

  #videoConfig(codec: VideoTrack["codec"], record: Buffer): void {
    if (record.length > mostVideoConfigBytes) throw new FlvError(`its description of the video has ${record.length} bytes`);
    // The message has memory of its own, which may be longer.
    const own = Buffer.from(record);
    const reader = new BoxReader(own, { start: 0, end: own.length });
    let entry: ReturnType<typeof readAvcConfig>;
    try {
      entry = codec === "h264" ? readAvcConfig(reader) : readHevcConfig(reader);
    } catch (error) {
      throw new FlvError(`its description of the video is wrong: ${errorText(error)}`);
    }
    if (this.#video && this.#video.track.codec !== codec) throw new FlvError("it changes to another kind of video");
    const index = this.#video?.index;
    this.#video = { track: entry.track, lengthBytes: entry.lengthBytes, index };
    if (index !== undefined) this.#options.onTrack(index, entry.track);
  }

  #picture(body: Buffer, atMs: number, compositionMs: number): void {
    const video = this.#video;
    if (!video) return;
    const { track, units } = separateParameterSets(video.track, splitLengthPrefixed(body, video.lengthBytes));
    if (track !== video.track) {
      this.#video = { ...video, track };
      if (video.index !== undefined) this.#options.onTrack(video.index, track);
    }
    if (units.length === 0) return;
    const isKey = units.some((unit) => (track.codec === "h264" ? h264NalType(unit) === h264Nal.idr : isH265KeyType(h265NalType(unit))));
    const dts = atMs * (track.clockRate / 1_000);
    this.#give("video", { units, dts, pts: dts + compositionMs * (track.clockRate / 1_000), isKey });
  }

  #audioTag(payload: Buffer, atMs: number): void {
    const format = (payload[0] as number) >> 4;
    let packet = payload[1];
    let body = payload.subarray(2);
    if (format === 9) {
      // Enhanced RTMP v2, "Enhanced Audio".
      packet = (payload[0] as number) & 0x0f;
      const fourCc = payload.toString("latin1", 1, 5);
      if (fourCc !== "mp4a") throw new FlvError(`it sends ${audioNames[fourCc] ?? "sound of an unknown kind"}; AAC is needed`);
      body = payload.subarray(5);
    } else if (format !== 10) throw new FlvError(`it sends ${audioNames[format] ?? `sound of the kind ${format}`}; AAC is needed`);
    if (packet === 0) {
      if (body.length > mostAudioConfigBytes) throw new FlvError(`its description of the sound has ${body.length} bytes`);
      this.#audioConfig(Buffer.from(body));
    } else if (packet === 1 && body.length > 0) this.#sound(body, atMs);
  }

  #audioConfig(config: Buffer): void {
    const { sampleRate, coreSampleRate, channels, samplesPerFrame } = parseAacConfig(config);
    const track: AacTrack = { kind: "audio", codec: "aac", clockRate: sampleRate, channels, config };
    const before = this.#audio;
    if (before?.track.config.equals(config)) return;
    if (before && before.track.clockRate !== sampleRate) throw new FlvError("it changes the sampling rate of its sound");
    this.#audio = {
      track,
      index: before?.index,
      samplesPerFrame: (samplesPerFrame * sampleRate) / coreSampleRate,
      nextPts: before?.nextPts,
    };
    if (before?.index !== undefined) this.#options.onTrack(before.index, track);
  }

  #sound(body: Buffer, atMs: number): void {
    const audio = this.#audio;
    if (!audio) return;
    if (body.length > mostAacBytes) throw new FlvError(`a frame of sound has ${body.length} bytes`);
    const { clockRate } = audio.track;
    const given = Math.round((atMs * clockRate) / 1_000);
    const isGapless = audio.nextPts !== undefined && Math.abs(given - audio.nextPts) <= roundedSeconds * clockRate;
    const pts = isGapless ? (audio.nextPts as number) : given;
    audio.nextPts = pts + audio.samplesPerFrame;
    this.#give("audio", { units: [body], pts, dts: pts, isKey: true });
  }

  #give(kind: Kind, frame: Omit<Frame, "track">): void {
    if (!this.#hasTracks) {
      // A group of pictures that lacks its beginning is useless.
      this.#waiting.push({ kind, frame: compactFrame(frame) });
      this.#waitingBytes += memoryOf(frame);
      this.#options.onWaiting(this.#waitingBytes);
      return;
    }
    const track = (kind === "video" ? this.#video : this.#audio)?.index;
    if (track !== undefined) this.#options.onFrame({ ...frame, track });
  }

  /** Begins when all tracks are known that were announced, or after a while with those that are. */
  #checkWaiting(atMs: number): void {
    if (this.#hasTracks || (!this.#video && !this.#audio)) return;
    const isComplete = this.#announced
      ? (!this.#announced.has("video") || this.#video !== undefined) && (!this.#announced.has("audio") || this.#audio !== undefined)
      : this.#video !== undefined && this.#audio !== undefined;
    const waitedMs = atMs - (this.#firstMs ?? atMs);
    if (!isComplete && waitedMs < mostWaitingMs && this.#waitingBytes < mostWaitingBytes) return;
    this.#hasTracks = true;
    const known = [this.#video, this.#audio].flatMap((state) => state ?? []);
    for (const [index, state] of known.entries()) state.index = index;
    this.#options.onTracks(known.map(({ track }) => track));
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#options.onWaiting(0);
    for (const { kind, frame } of waiting) this.#give(kind, frame);
  }
}

/** RFC 3640 §3.3.6 has 13 bits for the size of a frame. */
const mostAacBytes = 8_191;

const videoNames: Readonly<Record<string | number, string>> = {
  2: "Sorenson H.263",
  3: "Screen video",
  4: "VP6",
  5: "VP6",
  6: "Screen video",
  av01: "AV1",
  vp09: "VP9",
  vp08: "VP8",
};
const audioNames: Readonly<Record<string | number, string>> = {
  0: "uncompressed sound",
  1: "ADPCM",
  2: "MP3",
  3: "uncompressed sound",
  4: "Nellymoser",
  5: "Nellymoser",
  6: "Nellymoser",
  7: "G.711 A-law",
  8: "G.711 µ-law",
  11: "Speex",
  14: "MP3",
  Opus: "Opus",
  "ac-3": "AC-3",
  "ec-3": "E-AC-3",
  fLaC: "FLAC",
  ".mp3": "MP3",
};
