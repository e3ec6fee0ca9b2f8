import { BitReader } from "./bit-reader.ts";
import { h264Nal, h264NalType, parseH264Sps, type VideoPicture } from "./h264.ts";
import { h265Nal, h265NalType, parseH265Sps } from "./h265.ts";
import type { H264Track, H265Track, VideoTrack } from "./track.ts";

export interface SeparatedUnits {
  /** Without parameter sets, delimiters and filler. */
  readonly units: readonly Buffer[];
  /** The same object where the sets are those that it had. */
  readonly track: VideoTrack;
}

/** Moves the parameter sets of an access unit into its track, as `Frame` wants it. A set replaces the one with its identifier. */
export function separateParameterSets(track: VideoTrack, units: readonly Buffer[]): SeparatedUnits {
  return track.codec === "h264" ? separateH264(track, units) : separateH265(track, units);
}

function separateH264(track: H264Track, units: readonly Buffer[]): SeparatedUnits {
  const rest: Buffer[] = [];
  let { sps, pps } = track;
  let setsLeft = mostSets;
  for (const unit of units) {
    const type = h264NalType(unit);
    const isSet = type === h264Nal.sps || type === h264Nal.pps;
    if (isSet && setsLeft-- <= 0) continue;
    if (type === h264Nal.sps) sps = withSet(sps, unit, 4);
    else if (type === h264Nal.pps) pps = withSet(pps, unit, 1);
    else if (type !== h264Nal.delimiter && type !== h264Nal.filler) rest.push(unit);
  }
  return { units: rest, track: sps === track.sps && pps === track.pps ? track : { ...track, sps, pps } };
}

function separateH265(track: H265Track, units: readonly Buffer[]): SeparatedUnits {
  const rest: Buffer[] = [];
  let { vps, sps, pps } = track;
  let setsLeft = mostSets;
  for (const unit of units) {
    // Its header has two bytes.
    if (unit.length < leastH265Bytes) continue;
    const type = h265NalType(unit);
    const isSet = type === h265Nal.vps || type === h265Nal.sps || type === h265Nal.pps;
    if (isSet && setsLeft-- <= 0) continue;
    // The identifier of an SPS is behind its profile and levels; a stream has one in practice.
    if (type === h265Nal.vps) vps = withOnly(vps, unit);
    else if (type === h265Nal.sps) sps = withOnly(sps, unit);
    else if (type === h265Nal.pps) pps = withSet(pps, unit, 2);
    else if (type !== h265Nal.delimiter && type !== h265Nal.filler) rest.push(unit);
  }
  const isSame = vps === track.vps && sps === track.sps && pps === track.pps;
  return { units: rest, track: isSame ? track : { ...track, vps, sps, pps } };
}

/** Of a kind, and of one access unit: each takes some microseconds. */
const mostSets = 32;
const leastH265Bytes = 3;
/** With scaling lists one has some 1,500 bytes. */
const mostSetBytes = 4_096;

/** `idAt` is the byte at which the Exp-Golomb identifier begins. */
function withSet(sets: readonly Buffer[], unit: Buffer, idAt: number): readonly Buffer[] {
  if (unit.length > mostSetBytes || sets.some((set) => set.equals(unit))) return sets;
  const id = setId(unit, idAt);
  return id === undefined ? sets : [...sets.filter((set) => setId(set, idAt) !== id), ownCopy(unit)].slice(-mostSets);
}

const withOnly = (sets: readonly Buffer[], unit: Buffer): readonly Buffer[] =>
  unit.length > mostSetBytes || (sets[0]?.equals(unit) && sets.length === 1) ? sets : [ownCopy(unit)];

/** A set stays as long as its stream: a view would keep all of the picture that it came with. */
function ownCopy(unit: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(unit.length);
  unit.copy(copy);
  return copy;
}

function setId(unit: Buffer, at: number): number | undefined {
  try {
    return new BitReader(unit.subarray(at)).unsignedGolomb();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** All sets of a track, in the order in which a decoder needs them. */
export const parameterSetsOf = (track: VideoTrack): readonly Buffer[] =>
  track.codec === "h264" ? [...track.sps, ...track.pps] : [...track.vps, ...track.sps, ...track.pps];

/** What the sequence parameter set of a track tells; undefined where there is none yet, or none that can be read. */
export function pictureOf(track: VideoTrack): VideoPicture | undefined {
  const [sps] = track.sps;
  if (!sps) return undefined;
  try {
    return track.codec === "h264" ? parseH264Sps(sps) : parseH265Sps(sps);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
