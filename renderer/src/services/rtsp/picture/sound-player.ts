import type { BinaryItem } from "../../../../../contract/binary.ts";
import type { RtspSoundHeader } from "../../../../../contract/services/rtsp.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";

export type SoundState = { readonly state: "playing" } | { readonly state: "unsupported"; readonly codec: string };

/** Sound is played this long after it arrived, to compensate for jitter. */
const leadSeconds = 0.12;
/** If the delay differs from `leadSeconds` by more than this, playback is scheduled anew. */
const mostDriftSeconds = 0.25;

/** Decodes and plays the sound of a stream. */
export class SoundPlayer {
  readonly #context = new AudioContext({ latencyHint: "interactive" });
  readonly #onState: (state: SoundState) => void;
  #decoder: AudioDecoder | undefined;
  /** Of the decoder. */
  #config = "";
  #unsupported = "";
  /** When the next frame is played, on the context's clock. */
  #nextAt = 0;
  #queue: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(onState: (state: SoundState) => void) {
    this.#onState = onState;
    void this.#context.resume();
  }

  take(item: BinaryItem<RtspSoundHeader>): Promise<void> {
    this.#queue = this.#queue.then(() => this.#take(item));
    return this.#queue;
  }

  async #take({ header, payload }: BinaryItem<RtspSoundHeader>): Promise<void> {
    const { timeUs, ...config } = header;
    const key = JSON.stringify(config);
    if (this.#isClosed || key === this.#unsupported) return;
    if (this.#decoder?.state !== "configured" || this.#config !== key) await this.#prepare(config, key);
    if (this.#isClosed) return;
    this.#decoder?.decode(new EncodedAudioChunk({ type: "key", timestamp: timeUs, data: payload as Uint8Array<ArrayBuffer> }));
  }

  async #prepare({ codec, sampleRate, channels, description }: Omit<RtspSoundHeader, "timeUs">, key: string): Promise<void> {
    const config: AudioDecoderConfig = {
      codec,
      sampleRate,
      numberOfChannels: channels,
      ...(description !== undefined && { description: fromBase64(description) }),
    };
    const { supported } = await AudioDecoder.isConfigSupported(config).catch(() => ({ supported: false }));
    if (this.#isClosed) return;
    this.#closeDecoder();
    if (!supported) {
      this.#unsupported = key;
      this.#onState({ state: "unsupported", codec });
      return;
    }
    // After an error the next frame gets a new decoder.
    this.#decoder = new AudioDecoder({ output: (data) => this.#play(data), error: () => {} });
    this.#decoder.configure(config);
    this.#config = key;
  }

  #play(data: AudioData): void {
    const { numberOfChannels, numberOfFrames, sampleRate } = data;
    const buffer = this.#context.createBuffer(numberOfChannels, numberOfFrames, sampleRate);
    for (let channel = 0; channel < numberOfChannels; channel++) {
      data.copyTo(buffer.getChannelData(channel), { planeIndex: channel, format: "f32-planar" });
    }
    data.close();
    const due = this.#context.currentTime + leadSeconds;
    if (Math.abs(this.#nextAt - due) > mostDriftSeconds) this.#nextAt = due;
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    source.start(Math.max(this.#nextAt, this.#context.currentTime));
    this.#nextAt += buffer.duration;
    this.#onState({ state: "playing" });
  }

  #closeDecoder(): void {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#decoder = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#closeDecoder();
    void this.#context.close();
  }
}
