import { parseAacConfig } from "../aac.ts";
import { h264Nal, h264NalType, parseH264Sps } from "../h264.ts";
import { h265Nal, h265NalType, parseH265Sps } from "../h265.ts";
import type { Track } from "../track.ts";
import { type BoxReader, printable } from "./box.ts";
import { damaged } from "./media-file-error.ts";

/** What a track's stsd declares: media that can be streamed, or the name of what was found. */
export type SampleEntry = VideoEntry | AudioEntry | { readonly isStreamable: false; readonly found: string };
export interface VideoEntry {
  readonly isStreamable: true;
  readonly track: Extract<Track, { kind: "video" }>;
  readonly lengthBytes: 1 | 2 | 4;
}
export interface AudioEntry {
  readonly isStreamable: true;
  readonly track: Extract<Track, { kind: "audio" }>;
}

/** RFC 3551 and its followers: pictures have a clock of 90 kHz. */
const videoClockRate = 90_000;

/** Reads stsd, ISO/IEC 14496-12 §8.5.2. Only its first entry is used. */
export function readSampleEntry(stsd: BoxReader): SampleEntry {
  stsd.version();
  if (stsd.fourBytes() === 0) throw damaged("a track does not declare its format");
  const [box] = stsd.children();
  if (!box) throw damaged("a track does not declare its format");
  const entry = stsd.of(box);
  entry.skip(8);
  switch (box.type) {
    case "avc1":
    case "avc3":
      return readAvc(visual(entry));
    case "hvc1":
    case "hev1":
      return readHevc(visual(entry));
    case "mp4a":
      return readMp4a(sound(entry));
    case "Opus":
      return readOpus(sound(entry));
    default:
      return { isStreamable: false, found: formatNames[box.type] ?? `the format ${printable(box.type)}` };
  }
}

const formatNames: Readonly<Record<string, string>> = {
  av01: "AV1",
  vp08: "VP8",
  vp09: "VP9",
  dvh1: "Dolby Vision",
  dvhe: "Dolby Vision",
  mp4v: "MPEG-4 Part 2 (Xvid, DivX)",
  "mp4v-20": "MPEG-4 Part 2",
  mjpa: "Motion JPEG",
  jpeg: "Motion JPEG",
  "png ": "PNG pictures",
  apch: "ProRes",
  apcn: "ProRes",
  apcs: "ProRes",
  apco: "ProRes",
  ap4h: "ProRes",
  s263: "H.263",
  encv: "encrypted video",
  enca: "encrypted sound",
  "ac-3": "AC-3",
  "ec-3": "E-AC-3",
  "ac-4": "AC-4",
  alac: "Apple Lossless",
  fLaC: "FLAC",
  ".mp3": "MP3",
  lpcm: "uncompressed sound",
  sowt: "uncompressed sound",
  twos: "uncompressed sound",
  ipcm: "uncompressed sound",
  in24: "uncompressed sound",
  samr: "AMR",
  sawb: "AMR-WB",
  ulaw: "G.711 µ-law",
  alaw: "G.711 A-law",
};

function visual(entry: BoxReader): BoxReader {
  entry.skip(70);
  return entry;
}

/** ISO/IEC 14496-12 §12.2.3, and QuickTime's versions 1 and 2 with more fields. */
function sound(entry: BoxReader): BoxReader {
  const version = entry.twoBytes();
  entry.skip(18);
  if (version === 1) entry.skip(16);
  if (version === 2) entry.skip(36);
  return entry;
}

const readAvc = (entry: BoxReader): VideoEntry => readAvcConfig(entry.need("avcC"));
const readHevc = (entry: BoxReader): VideoEntry => readHevcConfig(entry.need("hvcC"));

/** AVCDecoderConfigurationRecord, ISO/IEC 14496-15 §5.3.3.1. */
export function readAvcConfig(config: BoxReader): VideoEntry {
  if (config.byte() !== 1) throw damaged("its avcC box is of an unknown version");
  config.skip(3);
  const lengthBytes = lengthBytesOf(config.byte());
  const sps = readUnits(config, config.byte() & 0x1f).filter((unit) => h264NalType(unit) === h264Nal.sps);
  const pps = readUnits(config, config.byte()).filter((unit) => h264NalType(unit) === h264Nal.pps);
  for (const unit of sps) parsed(() => parseH264Sps(unit));
  return { isStreamable: true, track: { kind: "video", codec: "h264", clockRate: videoClockRate, sps, pps }, lengthBytes };
}

/** HEVCDecoderConfigurationRecord, ISO/IEC 14496-15 §8.3.3.1. */
export function readHevcConfig(config: BoxReader): VideoEntry {
  if (config.byte() !== 1) throw damaged("its hvcC box is of an unknown version");
  config.skip(20);
  const lengthBytes = lengthBytesOf(config.byte());
  const units: Buffer[] = [];
  for (let arrays = config.byte(); arrays > 0; arrays--) {
    config.skip(1);
    units.push(...readUnits(config, config.twoBytes()));
  }
  const ofType = (type: number) => units.filter((unit) => h265NalType(unit) === type);
  const sps = ofType(h265Nal.sps);
  for (const unit of sps) parsed(() => parseH265Sps(unit));
  const track = {
    kind: "video",
    codec: "h265",
    clockRate: videoClockRate,
    vps: ofType(h265Nal.vps),
    sps,
    pps: ofType(h265Nal.pps),
  } as const;
  return { isStreamable: true, track, lengthBytes };
}

function lengthBytesOf(field: number): 1 | 2 | 4 {
  const bytes = (field & 3) + 1;
  if (bytes === 3) throw damaged("the lengths of its NAL units have three bytes");
  return bytes as 1 | 2 | 4;
}

function readUnits(config: BoxReader, count: number): Buffer[] {
  const units: Buffer[] = [];
  for (let index = 0; index < count; index++) {
    const unit = config.view(config.twoBytes());
    if (unit.length > 0) units.push(Buffer.from(unit));
  }
  return units;
}

/** ISO/IEC 14496-1 §7.2.6.6.2: the objectTypeIndication of what is no AAC. */
const soundNames: Readonly<Record<number, string>> = { 105: "MP3", 107: "MP3", 165: "AC-3", 166: "E-AC-3", 169: "DTS", 221: "Vorbis" };

function readMp4a(entry: BoxReader): SampleEntry {
  const esds = entry.find("esds") ?? entry.find("wave")?.find("esds");
  if (!esds) throw damaged("its sound has no esds box");
  const { objectType, config } = readEsds(esds);
  // 0x66 to 0x68: AAC by its MPEG-2 names.
  if (objectType !== 0x40 && (objectType < 0x66 || objectType > 0x68)) {
    return { isStreamable: false, found: soundNames[objectType] ?? `sound of the MPEG-4 object type 0x${objectType.toString(16)}` };
  }
  let parsedConfig: ReturnType<typeof parseAacConfig>;
  try {
    parsedConfig = parseAacConfig(config);
  } catch (error) {
    if (error instanceof RangeError) return { isStreamable: false, found: `sound that is not AAC-LC (${error.message})` };
    throw error;
  }
  const { sampleRate, channels } = parsedConfig;
  return { isStreamable: true, track: { kind: "audio", codec: "aac", clockRate: sampleRate, channels, config } };
}

/** ES_Descriptor, ISO/IEC 14496-1 §7.2.6.5. */
function readEsds(esds: BoxReader): { objectType: number; config: Buffer } {
  esds.version();
  openDescriptor(esds, 3);
  esds.skip(2);
  const flags = esds.byte();
  if (flags & 0x80) esds.skip(2);
  if (flags & 0x40) esds.skip(esds.byte());
  if (flags & 0x20) esds.skip(2);
  openDescriptor(esds, 4);
  const objectType = esds.byte();
  esds.skip(12);
  const needsConfig = objectType >= 0x40 && objectType <= 0x68;
  const config = needsConfig ? Buffer.from(esds.view(openDescriptor(esds, 5))) : Buffer.alloc(0);
  return { objectType, config };
}

/** Returns the length of the descriptor, in at most four bytes. */
function openDescriptor(esds: BoxReader, tag: number): number {
  if (esds.byte() !== tag) throw damaged("its esds box is not one");
  let length = 0;
  for (let count = 0; count < 4; count++) {
    const byte = esds.byte();
    length = (length << 7) | (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return length;
}

/** Encapsulation of Opus in ISOBMFF, §4.3.2. */
function readOpus(entry: BoxReader): SampleEntry {
  const config = entry.need("dOps");
  config.skip(1);
  const channels = config.byte();
  if (channels !== 1 && channels !== 2) return { isStreamable: false, found: `Opus with ${channels} channels` };
  return { isStreamable: true, track: { kind: "audio", codec: "opus", clockRate: 48_000, channels } };
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error.message);
    throw error;
  }
}
