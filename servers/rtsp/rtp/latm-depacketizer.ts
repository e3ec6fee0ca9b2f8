import { GatheredBytes } from "../../core/net/gathered-bytes.ts";
import { aacLcConfig, parseAacConfig } from "../media/aac.ts";
import { BitReader } from "../media/bit-reader.ts";
import type { DepacketizedFrame, Depacketizer } from "../media/track.ts";

const mostElementBytes = 64 << 10;

/** AAC in LATM payloads without a configuration in band (RFC 6416 §6.1), as GStreamer sends it: an element is a packet or several, the last one is marked. */
export class LatmDepacketizer implements Depacketizer {
  dropped = 0;
  readonly #fragments = new GatheredBytes();
  #timestamp = 0;
  #isBroken = false;

  get heldBytes(): number {
    return this.#fragments.length;
  }

  giveUp(): void {
    if (this.heldBytes > 0) this.#break();
  }

  push(payload: Buffer, timestamp: number, isMarked: boolean, isAfterLoss: boolean): readonly DepacketizedFrame[] {
    if (this.#fragments.length > 0 && (isAfterLoss || timestamp !== this.#timestamp)) this.#break();
    if (timestamp !== this.#timestamp) this.#isBroken = false;
    this.#timestamp = timestamp;
    this.#fragments.add(payload);
    if (this.#fragments.length > mostElementBytes) this.#break();
    if (!isMarked) return [];
    const element = this.#isBroken ? undefined : unitOf(this.#fragments.take());
    if (!this.#isBroken && !element) this.dropped++;
    this.#fragments.clear();
    this.#isBroken = false;
    return element ? [{ timestamp, units: [element], isKey: true }] : [];
  }

  #break(): void {
    if (!this.#isBroken) this.dropped++;
    this.#isBroken = true;
    this.#fragments.clear();
  }
}

/** ISO/IEC 14496-3 §1.7.3.1: PayloadLengthInfo, bytes that are added up to the first below 255, then the frame. */
function unitOf(element: Buffer): Buffer | undefined {
  let length = 0;
  let at = 0;
  let byte = 255;
  while (byte === 255 && at < element.length) {
    byte = element[at++] as number;
    length += byte;
  }
  return length > 0 && at + length <= element.length && byte < 255 ? element.subarray(at, at + length) : undefined;
}

/** The AudioSpecificConfig of a StreamMuxConfig (§1.7.3.1) with one program and one layer. Throws RangeError for others. */
export function configOfLatm(streamMuxConfig: Buffer): Buffer {
  const bits = new BitReader(streamMuxConfig);
  const [version, sameTiming, subFrames, programs, layers] = [bits.bits(1), bits.bits(1), bits.bits(6), bits.bits(4), bits.bits(3)];
  if (version !== 0 || sameTiming !== 1 || subFrames !== 0 || programs !== 0 || layers !== 0)
    throw new RangeError("the LATM configuration has several streams");
  const shifted: number[] = [];
  while (bits.remaining >= 8) shifted.push(bits.bits(8));
  shifted.push(bits.bits(bits.remaining) << 1);
  const { coreSampleRate, channels } = parseAacConfig(Buffer.from(shifted));
  // What follows the configuration has no length; a decoder finds SBR in the frames.
  return aacLcConfig(coreSampleRate, channels);
}
