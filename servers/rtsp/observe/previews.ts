import type { RtspBinary, RtspPictureHeader, RtspSoundHeader } from "../../../contract/services/rtsp.ts";
import type { BinaryPublisher } from "../../core/streams/binary-publisher.ts";
import { parseAacConfig } from "../media/aac.ts";
import { h264CodecString } from "../media/h264.ts";
import { h265CodecString } from "../media/h265.ts";
import { withStartCodes } from "../media/nal-units.ts";
import { parameterSetsOf, pictureOf } from "../media/parameter-sets.ts";
import type { AudioTrack, Frame, Track, VideoTrack } from "../media/track.ts";
import type { Paths } from "../streams/paths.ts";
import type { Stream } from "../streams/stream.ts";
import type { FrameReader } from "../streams/stream-readers.ts";

export interface PreviewsOptions {
  readonly paths: Pick<Paths, "open">;
  readonly picture: BinaryPublisher<RtspPictureHeader>;
  readonly sound: BinaryPublisher<RtspSoundHeader>;
}

type Kind = keyof RtspBinary;
const againMs = 500;

/** Pictures and sound of the streams for dashboards, while they show them. */
export class Previews {
  readonly #feeds = new Map<string, Feed>();
  /** Of pictures. Begins with the clock, so that numbers also rise over restarts. */
  #number = Date.now() * 1_000;
  readonly #numbers = new WeakMap<Frame, number>();

  constructor({ paths, picture, sound }: PreviewsOptions) {
    const sendPicture = (path: string, track: Track, frame: Frame): void => {
      const item = track.kind === "video" ? pictureItem(track, frame, this.#numberOf(frame)) : undefined;
      if (item) picture.publish(path, item);
    };
    const sendSound = (path: string, track: Track, frame: Frame, isKept: boolean): void => {
      // Sound of the past would be late for ever.
      const item = track.kind === "audio" && !isKept ? soundItem(track, frame) : undefined;
      if (item) sound.publish(path, item);
    };
    const serve = (kind: Kind, send: FeedOptions["send"]) => (path: string, count: number) => {
      const key = `${kind} ${path}`;
      const feed = this.#feeds.get(key) ?? new Feed({ paths, path, send });
      if (count === 0) this.#feeds.delete(key);
      else this.#feeds.set(key, feed);
      feed.setCount(count);
    };
    picture.onSubscribers(serve("picture", sendPicture));
    sound.onSubscribers(serve("sound", sendSound));
  }

  #numberOf(frame: Frame): number {
    const known = this.#numbers.get(frame);
    if (known !== undefined) return known;
    this.#numbers.set(frame, ++this.#number);
    return this.#number;
  }

  /** How many of the stream's readers are dashboards. */
  readersOf(stream: Stream): number {
    let readers = 0;
    for (const feed of this.#feeds.values()) if (feed.stream === stream) readers++;
    return readers;
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.setCount(0);
    this.#feeds.clear();
  }
}

interface FeedOptions {
  readonly paths: Pick<Paths, "open">;
  readonly path: string;
  /** `isKept`: it comes from the frames since the last key frame. */
  readonly send: (path: string, track: Track, frame: Frame, isKept: boolean) => void;
}

/** The stream of a path, whichever that is at the time. */
class Feed {
  stream: Stream | undefined;
  readonly #options: FeedOptions;
  #count = 0;
  #reader: FrameReader | undefined;
  #remove: (() => void) | undefined;
  /** Changes when what is under way is no longer wanted. */
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  setCount(count: number): void {
    const isMore = count > this.#count;
    this.#count = count;
    if (count === 0) this.#detach();
    else if (isMore) void this.#attach();
  }

  #detach(): void {
    this.#turn++;
    clearTimeout(this.#timer);
    this.#remove?.();
    this.#remove = undefined;
    this.stream = undefined;
  }

  /** Once more for a newcomer, who needs the frames since the last key frame. */
  async #attach(): Promise<void> {
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    const { paths, path, send } = this.#options;
    try {
      const stream = await paths.open(path);
      if (turn !== this.#turn) return;
      let isKept = true;
      const reader: FrameReader = {
        onFrame: (frame) => send(path, stream.tracks[frame.track] as Track, frame, isKept),
        onEnd: () => {
          if (this.#reader === reader) this.#again();
        },
      };
      const before = this.#remove;
      this.#reader = reader;
      this.stream = stream;
      this.#remove = stream.addFrameReader(reader);
      isKept = false;
      // Not earlier: a source without readers pauses.
      before?.();
    } catch {
      // There is no such stream now.
      if (turn === this.#turn) this.#again();
    }
  }

  #again(): void {
    this.#detach();
    this.#timer = setTimeout(() => void this.#attach(), againMs);
  }
}

const timeUs = ({ pts }: Frame, { clockRate }: Track): number => Math.round((pts * 1_000_000) / clockRate);

/** Undefined before the parameter sets. */
function pictureItem(track: VideoTrack, frame: Frame, n: number) {
  const [sps] = track.sps;
  if (!sps) return undefined;
  const { units, isKey } = frame;
  const header = { n, timeUs: timeUs(frame, track), sentAt: Date.now() };
  if (!isKey) return { header, payload: Buffer.concat(withStartCodes(units)) };
  const codec = codecOf(track, sps);
  if (codec === undefined) return undefined;
  const picture = pictureOf(track);
  const size = picture && { width: picture.width, height: picture.height };
  return {
    header: { ...header, codec, ...(size && { size }) },
    payload: Buffer.concat(withStartCodes([...parameterSetsOf(track), ...units])),
    isKey,
  };
}

function codecOf(track: VideoTrack, sps: Buffer): string | undefined {
  try {
    return track.codec === "h264" ? h264CodecString(sps) : h265CodecString(sps);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function soundItem(track: AudioTrack, frame: Frame) {
  const [payload] = frame.units;
  const config = soundConfig(track);
  return payload && config && { header: { timeUs: timeUs(frame, track), ...config }, payload };
}

/** As the registry of WebCodecs names them. */
function soundConfig(track: AudioTrack): Omit<RtspSoundHeader, "timeUs"> | undefined {
  const { clockRate: sampleRate, channels } = track;
  switch (track.codec) {
    case "aac":
      try {
        const { objectType } = parseAacConfig(track.config);
        return { codec: `mp4a.40.${objectType}`, sampleRate, channels, description: track.config.toString("base64") };
      } catch (error) {
        if (error instanceof RangeError) return undefined;
        throw error;
      }
    case "opus":
      return { codec: "opus", sampleRate, channels };
    case "pcmu":
      return { codec: "ulaw", sampleRate, channels };
    case "pcma":
      return { codec: "alaw", sampleRate, channels };
    default:
      return track satisfies never;
  }
}
