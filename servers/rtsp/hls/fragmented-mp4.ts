import { h264DecoderConfig, parseH264Sps } from "../media/h264.ts";
import { h265DecoderConfig, parseH265Sps } from "../media/h265.ts";
import { joinLengthPrefixed } from "../media/nal-units.ts";
import type { AacTrack, Frame, H264Track, H265Track, OpusTrack, Track } from "../media/track.ts";

/** What fragmented MP4 has a sample entry for. */
export type Mp4Track = H264Track | H265Track | AacTrack | OpusTrack;
export const isMp4Track = (track: Track): track is Mp4Track => track.codec !== "pcmu" && track.codec !== "pcma";

/** A frame with its duration, on the clock of its track. */
export interface Mp4Sample {
  readonly frame: Frame;
  readonly duration: number;
}

export interface Mp4Fragment {
  /** Index in the init segment. */
  readonly track: number;
  readonly samples: readonly Mp4Sample[];
  /** When its first sample is decoded, from the start of the stream. */
  readonly decodeTime: number;
}

/** ISO/IEC 14496-12 §8: ftyp and moov of a file whose samples come in fragments. Throws RangeError for parameter sets that are none. */
export function initSegment(tracks: readonly Mp4Track[]): Buffer {
  const fileType = box("ftyp", text("iso6"), fourBytes(0), text("iso6mp41"));
  const extensions = tracks.map((_, index) => fullBox("trex", 0, 0, fourBytes(index + 1, 1, 0, 0, 0)));
  const traks = tracks.map((track, index) => trackBox(track, index + 1));
  return Buffer.concat([fileType, box("moov", movieHeader(tracks.length), ...traks, box("mvex", ...extensions))]);
}

/** moof and mdat. `sequence` counts from 1. */
export function mediaSegment(sequence: number, tracks: readonly Mp4Track[], fragments: readonly Mp4Fragment[]): Buffer {
  const used = fragments.filter(({ samples }) => samples.length > 0);
  const data = used.map(({ track, samples }) => samples.map(({ frame }) => sampleBytes(tracks[track], frame)));
  const withOffsets = (start: number) => {
    let offset = start;
    const trafs = used.map((fragment, index) => {
      const samples = data[index] ?? [];
      const traf = trackFragment(fragment, samples, offset);
      for (const { length } of samples) offset += length;
      return traf;
    });
    return box("moof", fullBox("mfhd", 0, 0, fourBytes(sequence)), ...trafs);
  };
  // The offsets begin at the moof box, whose size does not depend on them.
  const movieFragment = withOffsets(withOffsets(0).length + 8);
  const payload = data.flat();
  const size = payload.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([movieFragment, fourBytes(size), text("mdat"), ...payload], movieFragment.length + size);
}

const sampleBytes = (track: Mp4Track | undefined, { units }: Frame): Buffer =>
  track?.kind === "video" ? joinLengthPrefixed(units) : (units[0] ?? Buffer.alloc(0));

/** What a publisher with jumping timestamps may exceed. */
const mostDisplayOffset = 0x7fff_ffff;
/** sample_depends_on: another sample, or none. */
const dependent = 0x0101_0000;
const independent = 0x0200_0000;

function trackFragment({ track, samples, decodeTime }: Mp4Fragment, data: readonly Buffer[], offset: number): Buffer {
  const run = Buffer.allocUnsafe(16 * samples.length);
  for (const [index, { frame, duration }] of samples.entries()) {
    const at = 16 * index;
    run.writeUInt32BE(duration, at);
    run.writeUInt32BE(data[index]?.length ?? 0, at + 4);
    run.writeUInt32BE(frame.isKey ? independent : dependent, at + 8);
    run.writeInt32BE(Math.max(-mostDisplayOffset, Math.min(mostDisplayOffset, frame.pts - frame.dts)), at + 12);
  }
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(decodeTime));
  return box(
    "traf",
    // default-base-is-moof
    fullBox("tfhd", 0, 0x02_0000, fourBytes(track + 1)),
    fullBox("tfdt", 1, 0, time),
    // Version 1: signed display offsets. Data offset, and per sample duration, size, flags and display offset.
    fullBox("trun", 1, 0xf01, fourBytes(samples.length, offset), run),
  );
}

const movieHeader = (tracks: number): Buffer =>
  fullBox(
    "mvhd",
    0,
    0,
    fourBytes(0, 0, 1_000, 0, 0x0001_0000),
    Buffer.from([1, 0]),
    Buffer.alloc(10),
    unityMatrix,
    Buffer.alloc(24),
    fourBytes(tracks + 1),
  );

function trackBox(track: Mp4Track, id: number): Buffer {
  const { width, height } = track.kind === "video" ? pictureSize(track) : { width: 0, height: 0 };
  const header = fullBox(
    "tkhd",
    0,
    // Enabled, in the movie.
    3,
    fourBytes(0, 0, id, 0, 0, 0, 0, 0),
    Buffer.from([track.kind === "audio" ? 1 : 0, 0, 0, 0]),
    unityMatrix,
    fourBytes(width * 65_536, height * 65_536),
  );
  const handler = fullBox(
    "hdlr",
    0,
    0,
    fourBytes(0),
    text(track.kind === "video" ? "vide" : "soun"),
    Buffer.alloc(12),
    text(`${track.kind}\0`),
  );
  const mediaHeader = track.kind === "video" ? fullBox("vmhd", 0, 1, Buffer.alloc(8)) : fullBox("smhd", 0, 0, Buffer.alloc(4));
  const dataInformation = box("dinf", fullBox("dref", 0, 0, fourBytes(1), fullBox("url ", 0, 1)));
  const table = box(
    "stbl",
    fullBox("stsd", 0, 0, fourBytes(1), sampleEntry(track, width, height)),
    fullBox("stts", 0, 0, fourBytes(0)),
    fullBox("stsc", 0, 0, fourBytes(0)),
    fullBox("stsz", 0, 0, fourBytes(0, 0)),
    fullBox("stco", 0, 0, fourBytes(0)),
  );
  // 0x55c4: the language "und".
  const media = box(
    "mdia",
    fullBox("mdhd", 0, 0, fourBytes(0, 0, track.clockRate, 0, 0x55c4_0000)),
    handler,
    box("minf", mediaHeader, dataInformation, table),
  );
  return box("trak", header, media);
}

function pictureSize(track: H264Track | H265Track): { width: number; height: number } {
  const sps = need(track.sps);
  return track.codec === "h264" ? parseH264Sps(sps) : parseH265Sps(sps);
}

function need(units: readonly Buffer[]): Buffer {
  const [unit] = units;
  if (!unit) throw new RangeError("The track has no parameter sets yet.");
  return unit;
}

function sampleEntry(track: Mp4Track, width: number, height: number): Buffer {
  switch (track.codec) {
    case "h264":
      return visualEntry("avc1", width, height, box("avcC", h264DecoderConfig(need(track.sps), need(track.pps))));
    case "h265":
      return visualEntry("hvc1", width, height, box("hvcC", h265DecoderConfig(need(track.vps), need(track.sps), need(track.pps))));
    case "aac":
      return soundEntry("mp4a", track, elementaryStream(track.config));
    case "opus": {
      // Encapsulation of Opus in ISOBMFF, §4.3.2: no mapping, 6.5 ms of pre-skip.
      const config = Buffer.alloc(11);
      config[1] = track.channels;
      config.writeUInt16BE(312, 2);
      config.writeUInt32BE(48_000, 4);
      return soundEntry("Opus", track, box("dOps", config));
    }
    default:
      return track satisfies never;
  }
}

function visualEntry(type: string, width: number, height: number, config: Buffer): Buffer {
  const entry = Buffer.alloc(78);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(width, 24);
  entry.writeUInt16BE(height, 26);
  // 72 dpi, one frame a sample, 24 bits of depth.
  entry.writeUInt32BE(0x0048_0000, 28);
  entry.writeUInt32BE(0x0048_0000, 32);
  entry.writeUInt16BE(1, 40);
  entry.writeUInt16BE(24, 74);
  entry.writeInt16BE(-1, 76);
  return box(type, entry, config);
}

function soundEntry(type: string, { channels, clockRate }: AacTrack | OpusTrack, config: Buffer): Buffer {
  const entry = Buffer.alloc(28);
  entry.writeUInt16BE(1, 6);
  entry.writeUInt16BE(channels, 16);
  entry.writeUInt16BE(16, 18);
  // Its 16 bits have no room for 88.2 and 96 kHz; the config has the rate as well.
  entry.writeUInt16BE(clockRate > 0xffff ? 0 : clockRate, 24);
  return box(type, entry, config);
}

/** esds, ISO/IEC 14496-1 §7.2.6: MPEG-4 audio with its configuration. */
function elementaryStream(config: Buffer): Buffer {
  const descriptor = (tag: number, ...parts: readonly Buffer[]) => {
    const body = Buffer.concat(parts);
    if (body.length > 0x7f) throw new RangeError("The AAC configuration is too long.");
    return Buffer.concat([Buffer.from([tag, body.length]), body]);
  };
  const decoder = descriptor(4, Buffer.from([0x40, 0x15, 0, 0, 0]), fourBytes(0, 0), descriptor(5, config));
  return fullBox("esds", 0, 0, descriptor(3, Buffer.from([0, 0, 0]), decoder, descriptor(6, Buffer.from([2]))));
}

const unityMatrix = Buffer.alloc(36);
unityMatrix.writeUInt32BE(0x0001_0000, 0);
unityMatrix.writeUInt32BE(0x0001_0000, 16);
unityMatrix.writeUInt32BE(0x4000_0000, 32);

const text = (value: string): Buffer => Buffer.from(value, "latin1");

function fourBytes(...values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([fourBytes(size), text(type), ...parts], size);
}

const fullBox = (type: string, version: number, flags: number, ...parts: readonly Buffer[]): Buffer =>
  box(type, fourBytes(version * 2 ** 24 + flags), ...parts);
