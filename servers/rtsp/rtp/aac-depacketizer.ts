import { GatheredBytes } from "../../core/net/gathered-bytes.ts";
import { parseAacConfig } from "../media/aac.ts";
import { BitReader } from "../media/bit-reader.ts";
import type { AacTrack, DepacketizedFrame, Depacketizer } from "../media/track.ts";

/** RFC 3640 §3.3.6. */
const highBitRate = { sizelength: 13, indexlength: 3, indexdeltalength: 3 } as const;
const mostFrames = 64;
/** As many as the 13 bits of AAC-hbr can say, in which readers get them. */
const mostFrameBytes = 8_191;

/** AAC in MPEG-4 generic payloads, RFC 3640: frames one or several to a packet, or in fragments. Interleaved frames are not taken. */
export class AacDepacketizer implements Depacketizer {
  dropped = 0;
  readonly #sizeBits: number;
  readonly #indexBits: number;
  readonly #deltaBits: number;
  readonly #auxiliaryBits: number;
  readonly #frameDuration: number;
  readonly #fragments = new GatheredBytes();
  #wholeBytes = 0;
  #timestamp = 0;

  constructor({ config, clockRate }: AacTrack, parameters: Readonly<Record<string, string>>) {
    const bitsOf = (name: string, usual: number) => {
      const bits = Number(parameters[name] ?? usual);
      return Number.isInteger(bits) && bits >= 0 && bits <= 32 ? bits : usual;
    };
    this.#sizeBits = bitsOf("sizelength", highBitRate.sizelength);
    this.#indexBits = bitsOf("indexlength", highBitRate.indexlength);
    this.#deltaBits = bitsOf("indexdeltalength", highBitRate.indexdeltalength);
    this.#auxiliaryBits = bitsOf("auxiliarydatasizelength", 0);
    const { samplesPerFrame, coreSampleRate } = parseAacConfig(config);
    this.#frameDuration = Math.round((samplesPerFrame * clockRate) / coreSampleRate);
  }

  get heldBytes(): number {
    return this.#fragments.length;
  }

  giveUp(): void {
    this.#dropFragments();
  }

  push(payload: Buffer, timestamp: number, _isMarked: boolean, isAfterLoss: boolean): readonly DepacketizedFrame[] {
    if (this.#fragments.length > 0 && (isAfterLoss || timestamp !== this.#timestamp)) this.#dropFragments();
    try {
      return this.#read(payload, timestamp);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#fragments.clear();
      this.dropped++;
      return [];
    }
  }

  #read(payload: Buffer, timestamp: number): DepacketizedFrame[] {
    const { sizes, start } = this.#readHeaders(payload);
    const [size = 0] = sizes;
    const data = payload.subarray(start);
    if (sizes.length === 1 && (size > data.length || this.#fragments.length > 0)) {
      const whole = this.#addFragment(data, size, timestamp);
      return whole ? [{ timestamp, units: [whole], isKey: true }] : [];
    }
    const frames: DepacketizedFrame[] = [];
    let position = 0;
    for (const [index, frameBytes] of sizes.entries()) {
      if (frameBytes > mostFrameBytes) throw new RangeError(`A frame has more than ${mostFrameBytes} bytes.`);
      if (frameBytes > data.length - position) throw new RangeError("A frame is longer than its packet.");
      const unit = data.subarray(position, position + frameBytes);
      position += frameBytes;
      if (unit.length === 0) continue;
      frames.push({ timestamp: (timestamp + index * this.#frameDuration) % 2 ** 32, units: [unit], isKey: true });
    }
    return frames;
  }

  /** §3.2.1: the sizes of the frames, and where their bytes begin. */
  #readHeaders(payload: Buffer): { sizes: readonly number[]; start: number } {
    if (this.#sizeBits === 0) throw new RangeError("The frames have no sizes.");
    const bits = new BitReader(payload);
    const end = 16 + bits.bits(16);
    const sizes: number[] = [];
    let position = 16;
    while (position < end) {
      const indexBits = sizes.length === 0 ? this.#indexBits : this.#deltaBits;
      sizes.push(bits.bits(this.#sizeBits));
      if (bits.bits(indexBits) !== 0) throw new RangeError("The frames are interleaved.");
      position += this.#sizeBits + indexBits;
      if (sizes.length > mostFrames) throw new RangeError(`A packet has more than ${mostFrames} frames.`);
    }
    if (position !== end || sizes.length === 0) throw new RangeError("The AU headers have another length than they declare.");
    let start = Math.ceil(end / 8);
    if (this.#auxiliaryBits > 0) {
      bits.skip(start * 8 - position);
      start += Math.ceil((this.#auxiliaryBits + bits.bits(this.#auxiliaryBits)) / 8);
    }
    if (start > payload.length) throw new RangeError("The packet ends within its headers.");
    return { sizes, start };
  }

  #addFragment(data: Buffer, wholeBytes: number, timestamp: number): Buffer | undefined {
    if (wholeBytes > mostFrameBytes) throw new RangeError(`A frame has more than ${mostFrameBytes} bytes.`);
    if (this.#fragments.length > 0 && wholeBytes !== this.#wholeBytes) throw new RangeError("The fragments have different sizes.");
    this.#timestamp = timestamp;
    this.#wholeBytes = wholeBytes;
    this.#fragments.add(data);
    // A fragment of nothing would never come to an end.
    if (this.#fragments.length > wholeBytes || data.length === 0) throw new RangeError("The fragments are longer than their frame.");
    return this.#fragments.length < wholeBytes ? undefined : this.#fragments.take();
  }

  #dropFragments(): void {
    if (this.#fragments.length > 0) this.dropped++;
    this.#fragments.clear();
  }
}
