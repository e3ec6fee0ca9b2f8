/** Writes small MP4 files for tests, sound ones and, by changing their fields, others. */
export interface BuiltSample {
  readonly bytes: Buffer;
  readonly duration: number;
  readonly displayOffset?: number;
  readonly isSync?: boolean;
}

export interface BuiltTrack {
  readonly handler: string;
  readonly timescale: number;
  /** A box for stsd. */
  readonly entry: Buffer;
  readonly samples: readonly BuiltSample[];
  /** In units of the movie's timescale (1000) and of the track's. */
  readonly edits?: readonly { readonly duration: number; readonly mediaTime: number }[];
  readonly isDisabled?: boolean;
}

export interface BuiltFile {
  readonly tracks: readonly BuiltTrack[];
  readonly isMovieLast?: boolean;
  /** co64 and a mdat with a size of 64 bits. */
  readonly isLong?: boolean;
  readonly samplesPerChunk?: number;
  /** Bytes before the samples in mdat. */
  readonly gap?: number;
  /** Behind its tracks. */
  readonly inMovie?: Buffer;
}

export const four = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value | 0, 4 * index);
  return bytes;
};
const eight = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};
export const mp4Box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([four(body.length + 8), Buffer.from(type, "latin1"), body]);
};
const full = (type: string, ...parts: readonly Buffer[]) => mp4Box(type, four(0), ...parts);

export function buildMp4(file: BuiltFile): Buffer {
  const { tracks, isMovieLast = false, isLong = false, samplesPerChunk = 3, gap = 0, inMovie = Buffer.alloc(0) } = file;
  const fileType = mp4Box("ftyp", Buffer.from("isom"), four(0x200), Buffer.from("isommp41"));
  const head = isLong ? 16 : 8;
  const media = tracks.map(({ samples }) => Buffer.concat(samples.map(({ bytes }) => bytes)));
  const mediaBytes = gap + media.reduce((sum, { length }) => sum + length, 0);
  const movieOf = (start: number) => {
    let position = start + gap;
    const traks = tracks.map((track, index) => {
      const trak = trackBox(track, index + 1, position, samplesPerChunk, isLong);
      position += media[index]?.length ?? 0;
      return trak;
    });
    return mp4Box("moov", full("mvhd", four(0, 0, 1_000, 0), Buffer.alloc(80)), ...traks, inMovie);
  };
  const movieBytes = movieOf(0).length;
  const movie = movieOf(fileType.length + head + (isMovieLast ? 0 : movieBytes));
  const mediaHead = isLong
    ? Buffer.concat([four(1), Buffer.from("mdat"), eight(mediaBytes + 16)])
    : Buffer.concat([four(mediaBytes + 8), Buffer.from("mdat")]);
  const mediaBox = Buffer.concat([mediaHead, Buffer.alloc(gap), ...media]);
  return Buffer.concat(isMovieLast ? [fileType, mediaBox, movie] : [fileType, movie, mediaBox]);
}

function trackBox(track: BuiltTrack, id: number, start: number, samplesPerChunk: number, isLong: boolean): Buffer {
  const { handler, timescale, entry, samples, edits, isDisabled } = track;
  const offsets: number[] = [];
  let position = start;
  for (const [index, { bytes }] of samples.entries()) {
    if (index % samplesPerChunk === 0) offsets.push(position);
    position += bytes.length;
  }
  const hasOffsets = samples.some(({ displayOffset }) => displayOffset !== undefined);
  const sync = samples.flatMap(({ isSync }, index) => (isSync ? [index + 1] : []));
  const stbl = mp4Box(
    "stbl",
    full("stsd", four(1), entry),
    full("stts", four(samples.length, ...samples.flatMap(({ duration }) => [1, duration]))),
    ...(hasOffsets ? [full("ctts", four(samples.length, ...samples.flatMap(({ displayOffset = 0 }) => [1, displayOffset])))] : []),
    ...(sync.length > 0 ? [full("stss", four(sync.length, ...sync))] : []),
    full("stsc", four(1, 1, samplesPerChunk, 1)),
    full("stsz", four(0, samples.length, ...samples.map(({ bytes }) => bytes.length))),
    isLong ? full("co64", four(offsets.length), ...offsets.map(eight)) : full("stco", four(offsets.length, ...offsets)),
  );
  const list =
    edits &&
    mp4Box("edts", full("elst", four(edits.length, ...edits.flatMap(({ duration, mediaTime }) => [duration, mediaTime, 0x1_0000]))));
  return mp4Box(
    "trak",
    mp4Box("tkhd", four(isDisabled ? 0 : 3), four(0, 0, id, 0, 0), Buffer.alloc(60)),
    ...(list ? [list] : []),
    mp4Box(
      "mdia",
      full("mdhd", four(0, 0, timescale, 0, 0)),
      full("hdlr", four(0), Buffer.from(handler), Buffer.alloc(13)),
      mp4Box("minf", stbl),
    ),
  );
}

/** 640x360, High profile, no reordering: the parameter sets of an encoder. */
export const h264Sps = Buffer.from("6764001eacd940a02ff9610000030001000003003284", "hex");
export const h264Pps = Buffer.from("68ebe3cb22c0", "hex");

export const avcConfig = (lengthBytes = 4): Buffer =>
  Buffer.concat([
    Buffer.from([1, 0x64, 0, 0x1e, 0xfc | (lengthBytes - 1), 0xe1, 0, h264Sps.length]),
    h264Sps,
    Buffer.from([1, 0, h264Pps.length]),
    h264Pps,
  ]);

export const avcEntry = (config = avcConfig()): Buffer => mp4Box("avc1", Buffer.alloc(78), mp4Box("avcC", config));

/** AAC; the sample entry says two channels whatever the configuration does. */
export function aacEntry(config: Buffer, objectType = 0x40): Buffer {
  const decoder = Buffer.concat([
    Buffer.from([4, 15 + config.length, objectType, 0x15]),
    Buffer.alloc(11),
    Buffer.from([5, config.length]),
    config,
  ]);
  const stream = Buffer.concat([Buffer.from([3, 3 + decoder.length, 0, 1, 0]), decoder]);
  const entry = Buffer.alloc(28);
  entry[17] = 2;
  return mp4Box("mp4a", entry, full("esds", stream));
}

export const lengthPrefixed = (...units: readonly Buffer[]): Buffer => Buffer.concat(units.flatMap((unit) => [four(unit.length), unit]));

/** Pictures of two units, a key frame every `gop`; their bytes tell them apart. */
export const pictures = (count: number, gop = 5, duration = 512): BuiltSample[] =>
  Array.from({ length: count }, (_, index) => {
    const isSync = index % gop === 0;
    const slice = Buffer.concat([Buffer.from([isSync ? 0x65 : 0x41, 0x88, index]), Buffer.alloc(10 + index, index)]);
    return { bytes: lengthPrefixed(Buffer.from([0x09, 0xf0]), slice), duration, isSync };
  });

export const sounds = (count: number, duration = 1_024): BuiltSample[] =>
  Array.from({ length: count }, (_, index) => ({ bytes: Buffer.alloc(5 + index, 0x80 + index), duration }));
