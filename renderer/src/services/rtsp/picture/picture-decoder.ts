import type { BinaryItem } from "../../../../../contract/binary.ts";
import type { RtspPictureHeader } from "../../../../../contract/services/rtsp.ts";

export type PictureState =
  /** For a key frame. */
  | { readonly state: "waiting" }
  | { readonly state: "playing" }
  | { readonly state: "unsupported"; readonly codec: string }
  /** A browser needs gigabytes for a few of them. */
  | { readonly state: "too-large"; readonly width: number; readonly height: number }
  | { readonly state: "failed"; readonly reason: string };

/** What is used of WebCodecs. */
export interface PictureCodecs<Picture> {
  supports(config: VideoDecoderConfig): Promise<boolean>;
  createDecoder(init: { readonly output: (picture: Picture) => void; readonly error: (error: Error) => void }): PictureCodec;
  createChunk(init: EncodedVideoChunkInit): EncodedVideoChunk;
}
export type PictureCodec = Pick<VideoDecoder, "configure" | "decode" | "reset" | "close" | "decodeQueueSize" | "ondequeue">;

export interface PictureDecoderOptions<Picture> {
  readonly codecs: PictureCodecs<Picture>;
  /** The receiver closes the picture. `sentAt`: when the service had it. */
  readonly onPicture: (picture: Picture, sentAt: number) => void;
  readonly onState: (state: PictureState) => void;
  /** Frames that are not shown, because the page is behind or the service left them out. */
  readonly onSkipped: (count: number) => void;
  /** Milliseconds since the epoch, of the same clock as the service's. */
  readonly now: () => number;
}

/** An item that left the service longer ago is too old to show. */
const mostBehindMs = 1_500;
/** More are not given to the decoder at once. */
const mostQueued = 8;
/** 4K, of cinemas. */
const mostPixels = 4_096 * 2_304;
/** New decoders in a row, and from then on the time of each: a stream could ask for hundreds a second, by its errors or its codecs. */
const mostDecoders = 5;
const decoderMs = 1_000;
/** Key frames in a row that cannot be decoded, before that is shown. */
const mostFailures = 3;

type Item = BinaryItem<RtspPictureHeader>;

/**
 * Decodes the picture of a stream. It begins with a key frame; when it falls behind, or the decoder fails, it goes on with the next one and
 * counts what is left out.
 */
export class PictureDecoder<Picture extends { readonly timestamp: number }> {
  readonly #options: PictureDecoderOptions<Picture>;
  #state: PictureState = { state: "waiting" };
  #decoder: PictureCodec | undefined;
  /** Of the decoder. */
  #codec = "";
  #checked: { readonly codec: string; readonly isSupported: boolean } | undefined;
  /** Of new decoders that may be made, as of `#countedAt`. */
  #decodersLeft = mostDecoders;
  #countedAt = 0;
  #waitsForKey = true;
  #lastNumber = 0;
  #failures = 0;
  /** Items are decoded one after the other. */
  #queue: Promise<void> = Promise.resolve();
  #wake = () => {};
  /** `sentAt` of frames in the decoder, by time. */
  readonly #sentAt = new Map<number, number>();
  #isClosed = false;

  constructor(options: PictureDecoderOptions<Picture>) {
    this.#options = options;
  }

  /** Resolves when the item was taken: until then it counts against the window of the channel. */
  take(item: Item): Promise<void> {
    this.#queue = this.#queue.then(() => this.#take(item));
    return this.#queue;
  }

  async #take({ header, payload, isKey }: Item): Promise<void> {
    // It came already: the frames since the last key frame are repeated for other pages.
    if (this.#isClosed || header.n <= this.#lastNumber) return;
    this.#lastNumber = header.n;
    if (this.#options.now() - header.sentAt > mostBehindMs) {
      this.#skip();
      return;
    }
    if (isKey && this.#isTooLarge(header)) return;
    if (isKey && header.codec !== undefined && !(await this.#prepare(header.codec))) return;
    if (this.#isClosed) return;
    if (this.#waitsForKey && !isKey) {
      if (!this.#isRefused) this.#options.onSkipped(1);
      return;
    }
    this.#waitsForKey = false;
    try {
      this.#sentAt.set(header.timeUs, header.sentAt);
      this.#decoder?.decode(
        this.#options.codecs.createChunk({
          type: isKey ? "key" : "delta",
          timestamp: header.timeUs,
          data: payload as Uint8Array<ArrayBuffer>,
        }),
      );
    } catch (error) {
      this.#failed(error as Error);
    }
    while ((this.#decoder?.decodeQueueSize ?? 0) > mostQueued) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Nothing is shown of the stream as it is. */
  get #isRefused(): boolean {
    return this.#state.state === "unsupported" || this.#state.state === "too-large";
  }

  #isTooLarge({ size }: RtspPictureHeader): boolean {
    if (!size || size.width * size.height <= mostPixels) return false;
    this.#closeDecoder();
    this.#waitsForKey = true;
    this.#set({ state: "too-large", width: size.width, height: size.height });
    return true;
  }

  /** The decoder for a key frame of this codec; false where there is none. */
  async #prepare(codec: string): Promise<boolean> {
    if (this.#decoder && this.#codec === codec && !this.#waitsForKey) return true;
    if (!this.#mayMakeDecoder()) {
      this.#skip();
      return false;
    }
    if (this.#checked?.codec !== codec) {
      const isSupported = await this.#options.codecs.supports({ codec }).catch(() => false);
      this.#checked = { codec, isSupported };
    }
    if (this.#isClosed) return false;
    if (!this.#checked.isSupported) {
      this.#closeDecoder();
      this.#waitsForKey = true;
      this.#set({ state: "unsupported", codec });
      return false;
    }
    // After a gap too: it may hold pictures that would come late.
    this.#closeDecoder();
    const decoder: PictureCodec = this.#options.codecs.createDecoder({
      output: (picture) => this.#shown(decoder, picture),
      error: (error) => {
        if (decoder === this.#decoder) this.#failed(error);
      },
    });
    decoder.ondequeue = () => this.#wake();
    decoder.configure({ codec, optimizeForLatency: true });
    this.#decoder = decoder;
    this.#codec = codec;
    return true;
  }

  /** Also to ask the browser for a codec. */
  #mayMakeDecoder(): boolean {
    const now = this.#options.now();
    this.#decodersLeft = Math.min(mostDecoders, this.#decodersLeft + Math.max(0, now - this.#countedAt) / decoderMs);
    this.#countedAt = now;
    if (this.#decodersLeft < 1) return false;
    this.#decodersLeft--;
    return true;
  }

  #shown(decoder: PictureCodec, picture: Picture): void {
    const sentAt = this.#sentAt.get(picture.timestamp) ?? 0;
    this.#sentAt.delete(picture.timestamp);
    if (decoder !== this.#decoder) {
      (picture as { close?(): void }).close?.();
      return;
    }
    this.#failures = 0;
    this.#set({ state: "playing" });
    this.#options.onPicture(picture, sentAt);
  }

  /** The next key frame gets a new decoder. */
  #failed(error: Error): void {
    this.#closeDecoder();
    this.#waitsForKey = true;
    if (++this.#failures >= mostFailures) this.#set({ state: "failed", reason: error.message });
  }

  /** The item, and those that the decoder still has. */
  #skip(): void {
    if (!this.#isRefused) this.#options.onSkipped(this.#sentAt.size + 1);
    this.#closeDecoder();
    this.#waitsForKey = true;
  }

  /** The service left frames out before the next item, which is a key item. */
  dropped(count: number): void {
    this.#options.onSkipped(count);
    this.#waitsForKey = true;
  }

  #set(state: PictureState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#options.onState(state);
  }

  #closeDecoder(): void {
    const decoder = this.#decoder;
    this.#decoder = undefined;
    this.#sentAt.clear();
    // An error has closed it already.
    if (decoder && (decoder as Partial<VideoDecoder>).state !== "closed") decoder.close();
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#closeDecoder();
  }
}

/** WebCodecs of the browser; undefined where it has none, as on pages without a secure context. */
export const browserCodecs: PictureCodecs<VideoFrame> | undefined =
  typeof globalThis.VideoDecoder === "undefined"
    ? undefined
    : {
        supports: async (config) => (await VideoDecoder.isConfigSupported(config)).supported === true,
        createDecoder: (init) => new VideoDecoder(init),
        createChunk: (init) => new EncodedVideoChunk(init),
      };
