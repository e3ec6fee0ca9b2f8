import { BitReader } from "./bit-reader.ts";

export interface AacConfig {
  readonly objectType: number;
  /** Samples a second that a decoder puts out: with SBR declared twice those of the core. */
  readonly sampleRate: number;
  readonly coreSampleRate: number;
  readonly channels: number;
  /** Of the core, per frame. */
  readonly samplesPerFrame: 960 | 1024;
}

/** ISO/IEC 14496-3, table 1.18. */
const sampleRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350] as const;
/** Table 1.19; 0 is declared by a program config element. */
const channelCounts = [0, 1, 2, 3, 4, 5, 6, 8, undefined, undefined, undefined, 7, 8, undefined, 8] as const;

const aacTypes: Readonly<Record<number, string>> = { 1: "AAC Main", 2: "AAC LC", 3: "AAC SSR", 4: "AAC LTP" };

/** AudioSpecificConfig, ISO/IEC 14496-3 §1.6.2.1, of AAC Main, LC, SSR and LTP, also with SBR and PS. Throws RangeError for others. */
export function parseAacConfig(bytes: Buffer): AacConfig {
  const bits = new BitReader(bytes);
  let objectType = readObjectType(bits);
  const coreSampleRate = readSampleRate(bits);
  const channelConfig = bits.bits(4);
  let sampleRate = coreSampleRate;
  const hasParametricStereo = objectType === 29;
  if (objectType === 5 || hasParametricStereo) {
    sampleRate = readSampleRate(bits);
    objectType = readObjectType(bits);
  }
  if (aacTypes[objectType] === undefined) throw new RangeError(`MPEG-4 audio of object type ${objectType} is no AAC that can be streamed`);
  const samplesPerFrame = bits.flag() ? 960 : 1024;
  if (bits.flag()) bits.skip(14);
  bits.skip(1);
  const declared = channelConfig === 0 ? channelsOfProgram(bits) : channelCounts[channelConfig];
  if (declared === undefined || declared === 0) throw new RangeError(`there is no AAC channel configuration ${channelConfig}`);
  const channels = hasParametricStereo && declared === 1 ? 2 : declared;
  return { objectType, sampleRate, coreSampleRate, channels, samplesPerFrame };
}

function readObjectType(bits: BitReader): number {
  const type = bits.bits(5);
  return type === 31 ? 32 + bits.bits(6) : type;
}

function readSampleRate(bits: BitReader): number {
  const index = bits.bits(4);
  const rate = index === 15 ? bits.bits(24) : sampleRates[index];
  if (rate === undefined || rate < 1_000 || rate > 192_000)
    throw new RangeError(`there is no AAC sampling rate ${rate ?? `index ${index}`}`);
  return rate;
}

/** program_config_element, §4.4.1.1: an element that is a pair has two channels. */
function channelsOfProgram(bits: BitReader): number {
  bits.skip(4 + 2 + 4);
  const counts = [bits.bits(4), bits.bits(4), bits.bits(4)];
  const lfe = bits.bits(2);
  bits.skip(3 + 4);
  if (bits.flag()) bits.skip(4);
  if (bits.flag()) bits.skip(4);
  if (bits.flag()) bits.skip(3);
  let channels = lfe;
  for (const count of counts) {
    for (let element = 0; element < count; element++) {
      channels += bits.flag() ? 2 : 1;
      bits.skip(4);
    }
  }
  return channels;
}

/** The two bytes (five for a rate of its own) that declare AAC-LC of these. */
export function aacLcConfig(sampleRate: number, channels: number): Buffer {
  const channelConfig = channels === 8 ? 7 : channels;
  const index = sampleRates.indexOf(sampleRate as (typeof sampleRates)[number]);
  if (index >= 0) return Buffer.from([(2 << 3) | (index >> 1), ((index & 1) << 7) | (channelConfig << 3)]);
  const head = Buffer.alloc(5);
  head[0] = (2 << 3) | 7;
  head[1] = 0x80 | (sampleRate >> 17);
  head.writeUInt16BE((sampleRate >> 1) & 0xffff, 2);
  head[4] = ((sampleRate & 1) << 7) | (channelConfig << 3);
  return head;
}

const adtsHeaderBytes = 7;
export const mostAdtsPayload = 0x1fff - adtsHeaderBytes;

/** The header of a frame in ADTS, §1.A.2.2, without CRC. Throws RangeError for what ADTS cannot declare. */
export function writeAdtsHeader({ objectType, coreSampleRate, channels }: AacConfig, frameBytes: number): Buffer {
  const size = adtsHeaderBytes + frameBytes;
  const rateIndex = sampleRates.indexOf(coreSampleRate as (typeof sampleRates)[number]);
  const channelConfig = channels === 8 ? 7 : channels;
  if (frameBytes > mostAdtsPayload || rateIndex < 0 || channels > 8 || channels === 7)
    throw new RangeError("ADTS has no room for this AAC frame");
  return Buffer.from([
    0xff,
    0xf1,
    ((objectType - 1) << 6) | (rateIndex << 2) | (channelConfig >> 2),
    ((channelConfig & 3) << 6) | (size >> 11),
    (size >> 3) & 0xff,
    ((size & 7) << 5) | 0x1f,
    0xfc,
  ]);
}
