import { BitReader } from "./bit-reader.ts";
import type { VideoPicture } from "./h264.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";

/** ITU-T H.265, table 7-1. Types 16 to 23 are pictures at which decoding can begin (IRAP). */
export const h265Nal = {
  firstIrap: 16,
  lastIrap: 23,
  vps: 32,
  sps: 33,
  pps: 34,
  delimiter: 35,
  filler: 38,
  prefixSei: 39,
  suffixSei: 40,
} as const;

export const h265NalType = (unit: Buffer): number => ((unit[0] as number) >> 1) & 0x3f;

export const isH265KeyType = (type: number): boolean => type >= h265Nal.firstIrap && type <= h265Nal.lastIrap;

/** profile_tier_level, §7.3.3: its first 88 bits, which hvcC and SDP repeat. */
export interface H265Profile {
  readonly profileSpace: number;
  readonly isHighTier: boolean;
  readonly profileIdc: number;
  /** general_profile_compatibility_flags, the first flag in the highest bit. */
  readonly compatibility: number;
  /** Six bytes of general constraint flags. */
  readonly constraints: Buffer;
  readonly levelIdc: number;
}

export interface H265Sps extends VideoPicture {
  readonly profile: H265Profile;
  readonly chromaFormat: number;
  readonly lumaBits: number;
  readonly chromaBits: number;
  readonly temporalLayers: number;
  readonly isTemporalIdNested: boolean;
}

const mostSide = 16_888;

/** A sequence parameter set, §7.3.2.2. Throws RangeError for bytes that are none. */
export function parseH265Sps(unit: Buffer): H265Sps {
  if (unit.length < 16 || h265NalType(unit) !== h265Nal.sps) throw new RangeError("it is no H.265 sequence parameter set");
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  bits.skip(4);
  const subLayers = bits.bits(3);
  if (subLayers > 6) throw new RangeError("an H.265 stream has more than seven temporal layers");
  const isTemporalIdNested = bits.flag();
  const profile = readProfile(bits, subLayers);
  bits.unsignedGolomb();
  const chromaFormat = bits.unsignedGolomb();
  if (chromaFormat > 3) throw new RangeError(`an H.265 chroma format is ${chromaFormat}`);
  const hasSeparatePlanes = chromaFormat === 3 && bits.flag();
  const codedWidth = bits.unsignedGolomb();
  const codedHeight = bits.unsignedGolomb();
  if (codedWidth > mostSide || codedHeight > mostSide) throw new RangeError("an H.265 picture is larger than any level allows");
  const [left, right, top, bottom] = bits.flag()
    ? [bits.unsignedGolomb(), bits.unsignedGolomb(), bits.unsignedGolomb(), bits.unsignedGolomb()]
    : [0, 0, 0, 0];
  const unitX = (chromaFormat === 1 || chromaFormat === 2) && !hasSeparatePlanes ? 2 : 1;
  const unitY = chromaFormat === 1 ? 2 : 1;
  const width = codedWidth - unitX * (left + right);
  const height = codedHeight - unitY * (top + bottom);
  if (width <= 0 || height <= 0) throw new RangeError("an H.265 picture is cropped to nothing");
  const lumaBits = 8 + bits.unsignedGolomb();
  const chromaBits = 8 + bits.unsignedGolomb();
  if (lumaBits > 16 || chromaBits > 16) throw new RangeError("an H.265 sample has more than 16 bits");
  bits.unsignedGolomb();
  const hasSubLayerOrder = bits.flag();
  let reorderDepth = 0;
  for (let layer = hasSubLayerOrder ? 0 : subLayers; layer <= subLayers; layer++) {
    bits.unsignedGolomb();
    reorderDepth = bits.unsignedGolomb();
    bits.unsignedGolomb();
  }
  if (reorderDepth > 16) throw new RangeError("an H.265 stream reorders more than 16 pictures");
  return { profile, chromaFormat, lumaBits, chromaBits, temporalLayers: subLayers + 1, isTemporalIdNested, width, height, reorderDepth };
}

function readProfile(bits: BitReader, subLayers: number): H265Profile {
  const profileSpace = bits.bits(2);
  const isHighTier = bits.flag();
  const profileIdc = bits.bits(5);
  const compatibility = bits.bits(32);
  const constraints = Buffer.from(Array.from({ length: 6 }, () => bits.bits(8)));
  const levelIdc = bits.bits(8);
  const present = Array.from({ length: subLayers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (subLayers > 0) bits.skip(2 * (8 - subLayers));
  for (const { profile, level } of present) bits.skip((profile ? 88 : 0) + (level ? 8 : 0));
  return { profileSpace, isHighTier, profileIdc, compatibility, constraints, levelIdc };
}

const profileNames: Readonly<Record<number, string>> = { 1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions" };

/** Annex A.3, of a profile; empty for one without a name. */
export const h265ProfileName = ({ profileIdc }: H265Profile): string => profileNames[profileIdc] ?? "";

/** ISO/IEC 14496-15, annex E.3: `hvc1.1.6.L93.B0`. */
export function h265CodecString(sps: Buffer): string {
  const { profileSpace, profileIdc, compatibility, isHighTier, levelIdc, constraints } = parseH265Sps(sps).profile;
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) if ((compatibility >>> bit) & 1) reversed += 2 ** (31 - bit);
  const used = [...constraints];
  while (used.at(-1) === 0) used.pop();
  const parts = [
    `${["", "A", "B", "C"][profileSpace]}${profileIdc}`,
    reversed.toString(16).toUpperCase(),
    `${isHighTier ? "H" : "L"}${levelIdc}`,
    ...used.map((byte) => byte.toString(16).toUpperCase()),
  ];
  return `hvc1.${parts.join(".")}`;
}

/** HEVCDecoderConfigurationRecord, ISO/IEC 14496-15 §8.3.3.1, with lengths of four bytes. */
export function h265DecoderConfig(vps: Buffer, sps: Buffer, pps: Buffer): Buffer {
  const { profile, chromaFormat, lumaBits, chromaBits, temporalLayers, isTemporalIdNested } = parseH265Sps(sps);
  const head = Buffer.alloc(23);
  head[0] = 1;
  head[1] = (profile.profileSpace << 6) | (profile.isHighTier ? 0x20 : 0) | profile.profileIdc;
  head.writeUInt32BE(profile.compatibility, 2);
  head.set(profile.constraints, 6);
  head[12] = profile.levelIdc;
  head.writeUInt16BE(0xf000, 13);
  head[15] = 0xfc;
  head[16] = 0xfc | chromaFormat;
  head[17] = 0xf8 | (lumaBits - 8);
  head[18] = 0xf8 | (chromaBits - 8);
  head[21] = (temporalLayers << 3) | (isTemporalIdNested ? 4 : 0) | 3;
  head[22] = 3;
  const arrays = [vps, sps, pps].flatMap((unit) => {
    const array = Buffer.alloc(5);
    array[0] = 0x80 | h265NalType(unit);
    array.writeUInt16BE(1, 1);
    array.writeUInt16BE(unit.length, 3);
    return [array, unit];
  });
  return Buffer.concat([head, ...arrays]);
}
