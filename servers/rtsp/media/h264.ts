import { BitReader } from "./bit-reader.ts";
import { withoutEmulationPrevention } from "./nal-units.ts";

/** ITU-T H.264, table 7-1, with the types that RFC 6184 §5.2 adds. */
export const h264Nal = { slice: 1, idr: 5, sei: 6, sps: 7, pps: 8, delimiter: 9, endOfSequence: 10, endOfStream: 11, filler: 12 } as const;

export const h264NalType = (unit: Buffer): number => (unit[0] as number) & 0x1f;

export interface VideoPicture {
  readonly width: number;
  readonly height: number;
  /** How many pictures may come between one and its place in the order of display; undefined where the stream does not say. */
  readonly reorderDepth: number | undefined;
}

export interface H264Sps extends VideoPicture {
  readonly profileIdc: number;
  readonly constraints: number;
  readonly levelIdc: number;
  readonly chromaFormat: number;
  readonly lumaBits: number;
  readonly chromaBits: number;
}

/** Profiles with chroma format, bit depths and scaling lists, §7.3.2.1.1. */
const highProfiles: ReadonlySet<number> = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** More macroblocks a side than level 6.2 allows. */
const mostMacroblocks = 1_056;

/** A sequence parameter set, §7.3.2.1.1. Throws RangeError for bytes that are none. */
export function parseH264Sps(unit: Buffer): H264Sps {
  if (unit.length < 4 || h264NalType(unit) !== h264Nal.sps) throw new RangeError("it is no H.264 sequence parameter set");
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const profileIdc = bits.bits(8);
  const constraints = bits.bits(8);
  const levelIdc = bits.bits(8);
  bits.unsignedGolomb();
  let chromaFormat = 1;
  let lumaBits = 8;
  let chromaBits = 8;
  let hasSeparatePlanes = false;
  if (highProfiles.has(profileIdc)) {
    chromaFormat = bits.unsignedGolomb();
    if (chromaFormat > 3) throw new RangeError(`an H.264 chroma format is ${chromaFormat}`);
    hasSeparatePlanes = chromaFormat === 3 && bits.flag();
    lumaBits = 8 + bits.unsignedGolomb();
    chromaBits = 8 + bits.unsignedGolomb();
    if (lumaBits > 14 || chromaBits > 14) throw new RangeError("an H.264 sample has more than 14 bits");
    bits.skip(1);
    if (bits.flag()) skipScalingLists(bits, chromaFormat === 3 ? 12 : 8);
  }
  bits.unsignedGolomb();
  const orderType = skipPictureOrder(bits);
  bits.unsignedGolomb();
  bits.skip(1);
  const columns = bits.unsignedGolomb() + 1;
  const mapUnits = bits.unsignedGolomb() + 1;
  const isFrameOnly = bits.flag();
  if (columns > mostMacroblocks || mapUnits > mostMacroblocks) throw new RangeError("an H.264 picture has more macroblocks than any level");
  if (!isFrameOnly) bits.skip(1);
  bits.skip(1);
  const rows = mapUnits * (isFrameOnly ? 1 : 2);
  const crop = bits.flag() ? readCrop(bits) : noCrop;
  const unitX = chromaFormat === 0 || hasSeparatePlanes || chromaFormat === 3 ? 1 : 2;
  const unitY = (chromaFormat === 1 ? 2 : 1) * (isFrameOnly ? 1 : 2);
  const width = columns * 16 - unitX * crop.horizontal;
  const height = rows * 16 - unitY * crop.vertical;
  if (width <= 0 || height <= 0) throw new RangeError("an H.264 picture is cropped to nothing");
  const reorderDepth = orderType === 2 || profileIdc === 66 ? 0 : reorderDepthOf(bits);
  return { profileIdc, constraints, levelIdc, chromaFormat, lumaBits, chromaBits, width, height, reorderDepth };
}

const noCrop = { horizontal: 0, vertical: 0 };

function readCrop(bits: BitReader): { horizontal: number; vertical: number } {
  const left = bits.unsignedGolomb();
  const right = bits.unsignedGolomb();
  const top = bits.unsignedGolomb();
  return { horizontal: left + right, vertical: top + bits.unsignedGolomb() };
}

function skipScalingLists(bits: BitReader, count: number): void {
  for (let list = 0; list < count; list++) {
    if (!bits.flag()) continue;
    let last = 8;
    let next = 8;
    for (let index = 0; index < (list < 6 ? 16 : 64); index++) {
      if (next !== 0) next = (last + bits.signedGolomb() + 256) & 0xff;
      if (next !== 0) last = next;
    }
  }
}

/** Returns pic_order_cnt_type. */
function skipPictureOrder(bits: BitReader): number {
  const type = bits.unsignedGolomb();
  if (type === 0) bits.unsignedGolomb();
  if (type === 1) {
    bits.skip(1);
    bits.signedGolomb();
    bits.signedGolomb();
    const cycle = bits.unsignedGolomb();
    if (cycle > 255) throw new RangeError("an H.264 picture order cycle is too long");
    for (let index = 0; index < cycle; index++) bits.signedGolomb();
  }
  return type;
}

/** max_num_reorder_frames of the VUI, annex E. What ends within the VUI says nothing. */
function reorderDepthOf(bits: BitReader): number | undefined {
  try {
    if (!bits.flag()) return undefined;
    if (bits.flag() && bits.bits(8) === 255) bits.skip(32);
    if (bits.flag()) bits.skip(1);
    if (bits.flag()) {
      bits.skip(4);
      if (bits.flag()) bits.skip(24);
    }
    if (bits.flag()) {
      bits.unsignedGolomb();
      bits.unsignedGolomb();
    }
    if (bits.flag()) bits.skip(65);
    const hasNal = bits.flag();
    if (hasNal) skipHrd(bits);
    const hasVcl = bits.flag();
    if (hasVcl) skipHrd(bits);
    if (hasNal || hasVcl) bits.skip(1);
    bits.skip(1);
    if (!bits.flag()) return undefined;
    bits.skip(1);
    for (let index = 0; index < 4; index++) bits.unsignedGolomb();
    const depth = bits.unsignedGolomb();
    return depth > 16 ? undefined : depth;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function skipHrd(bits: BitReader): void {
  const count = bits.unsignedGolomb() + 1;
  if (count > 32) throw new RangeError("an HRD has more than 32 schedules");
  bits.skip(8);
  for (let index = 0; index < count; index++) {
    bits.unsignedGolomb();
    bits.unsignedGolomb();
    bits.skip(1);
  }
  bits.skip(20);
}

const profileNames: Readonly<Record<number, string>> = {
  66: "Baseline",
  77: "Main",
  88: "Extended",
  100: "High",
  110: "High 10",
  122: "High 4:2:2",
  244: "High 4:4:4",
};

/** Annex A.2, of a sequence parameter set; empty for one without a name. */
export const h264ProfileName = (sps: Buffer): string => profileNames[sps[1] ?? 0] ?? "";

/** RFC 6184 §8.1: profile-level-id. */
export const h264ProfileLevelId = (sps: Buffer): string => sps.toString("hex", 1, 4).toUpperCase();

/** RFC 6381 §3.3: the name for MSE and WebCodecs. */
export const h264CodecString = (sps: Buffer): string => `avc1.${h264ProfileLevelId(sps)}`;

/** AVCDecoderConfigurationRecord, ISO/IEC 14496-15 §5.3.3.1, with lengths of four bytes. */
export function h264DecoderConfig(sps: Buffer, pps: Buffer): Buffer {
  const { profileIdc, chromaFormat, lumaBits, chromaBits } = parseH264Sps(sps);
  const lengthOf = (unit: Buffer) => Buffer.from([unit.length >> 8, unit.length & 0xff]);
  const head = Buffer.from([1, sps[1] as number, sps[2] as number, sps[3] as number, 0xff, 0xe1]);
  const hasChroma = profileIdc === 100 || profileIdc === 110 || profileIdc === 122 || profileIdc === 144;
  const tail = hasChroma ? [0xfc | chromaFormat, 0xf8 | (lumaBits - 8), 0xf8 | (chromaBits - 8), 0] : [];
  return Buffer.concat([head, lengthOf(sps), sps, Buffer.from([1]), lengthOf(pps), pps, Buffer.from(tail)]);
}
