import { BoxReader, printable } from "./box.ts";
import { type ByteSource, readInSteps } from "./byte-source.ts";
import { formatHeadBytes, formatOf } from "./file-format.ts";
import { FragmentedSamples, type ReadFragment } from "./fragmented-samples.ts";
import { convertLine, damaged, unsupported } from "./media-file-error.ts";
import { readSampleEntry, type SampleEntry } from "./sample-entry.ts";
import { readSampleTable, type SampleTable, type Steps } from "./sample-table.ts";

/** A track of pictures or sound as the file declares it; its samples are read when it is chosen. */
export interface MovieTrack {
  readonly handler: "vide" | "soun";
  readonly isEnabled: boolean;
  readonly entry: SampleEntry;
  readonly edit: Edit;
  readSamples(): Steps<SampleTable>;
}

/** What an edit list asks of a player, ISO/IEC 14496-12 §8.6.6: a delay, the first moment that is shown, and for how long. */
export interface Edit {
  readonly delaySeconds: number;
  /** In units of the track's timescale. */
  readonly mediaStart: number;
  readonly durationSeconds: number | undefined;
}

const mostMovieBytes = 128 << 20;
const mostFragmentBytes = 16 << 20;
const mostBoxes = 200_000;
/** Each is a read. */
const boxesOfStep = 64;
const mostTracks = 64;

/** Finds moov, before or after the media, and reads the tracks that it declares. */
export function* readMovie(source: ByteSource): Steps<MovieTrack[]> {
  const { moov, end } = yield* findMovie(source);
  const header = moov.need("mvhd");
  header.skip(header.version() === 1 ? 16 : 8);
  const timescale = header.fourBytes();
  if (timescale === 0) throw damaged("its timescale is zero");
  const traks = moov.children().filter(({ type }) => type === "trak");
  if (traks.length > mostTracks) throw damaged(`it has ${traks.length} tracks; at most ${mostTracks} are read`);
  const extensions = new BoxReader(moov.bytes, { start: 0, end: moov.end }).find("mvex");
  const fragmented = extensions && new FragmentedSamples(extensions, source.size, (read) => readFragments(source, end, read));
  const tracks: MovieTrack[] = [];
  for (const trak of traks) {
    const track = readTrack(moov.of(trak), timescale, source.size, fragmented);
    if (track) tracks.push(track);
    yield;
  }
  return tracks;
}

interface TopBox {
  readonly type: string;
  readonly position: number;
  readonly headBytes: number;
  readonly size: number;
}

/** The boxes of the file itself; the last one may be cut off. */
function* topBoxes(source: ByteSource, start: number): Generator<TopBox> {
  let position = start;
  for (let count = 0; position + 8 <= source.size; count++) {
    if (count > mostBoxes) throw damaged(`it has more than ${mostBoxes} boxes`);
    const head = source.read(position, Math.min(16, source.size - position));
    const type = head.toString("latin1", 4, 8);
    let size = head.readUInt32BE(0);
    let headBytes = 8;
    if (size === 1 && head.length === 16) {
      size = Number(head.readBigUInt64BE(8));
      headBytes = 16;
    } else if (size === 0) size = source.size - position;
    if (size < headBytes) throw damaged(`the box ${printable(type)} has ${size} bytes`);
    yield { type, position, headBytes, size };
    position += size;
  }
}

function* findMovie(source: ByteSource): Steps<{ moov: BoxReader; end: number }> {
  let end = 0;
  let boxes = 0;
  for (const { type, position, headBytes, size } of topBoxes(source, 0)) {
    if (position === 0 && !knownFirst.has(type)) {
      const format = formatOf(source.read(0, Math.min(formatHeadBytes, source.size)));
      const found = format === undefined ? "The file is no MP4 file." : `The file is ${format}, not MP4.`;
      throw unsupported(found, convertLine({ video: "encode", audio: "encode" }));
    }
    end = position + size;
    if (++boxes % boxesOfStep === 0) yield;
    if (type !== "moov") continue;
    if (size > mostMovieBytes) throw damaged(`its moov box has ${size} bytes; at most ${mostMovieBytes} are read`);
    if (end > source.size) throw damaged("it ends within its moov box");
    const bytes = yield* readInSteps(source, position + headBytes, size - headBytes);
    return { moov: new BoxReader(bytes, { start: 0, end: bytes.length }), end };
  }
  // A recording that was cut off has its media and no moov, which is written last.
  if (end > source.size) throw damaged("it is cut off: the end of its media and its moov box are missing");
  throw damaged("it has no moov box, which a recorder writes at the end");
}

/** Calls back with the moof boxes and where they begin; what was cut off at the end is left out. */
function* readFragments(source: ByteSource, start: number, read: ReadFragment): Steps<void> {
  let boxes = 0;
  for (const { type, position, headBytes, size } of topBoxes(source, start)) {
    if (++boxes % boxesOfStep === 0) yield;
    if (type !== "moof" || position + size > source.size) continue;
    if (size > mostFragmentBytes) throw damaged(`a moof box has ${size} bytes; at most ${mostFragmentBytes} are read`);
    const bytes = yield* readInSteps(source, position + headBytes, size - headBytes);
    yield* read(new BoxReader(bytes, { start: 0, end: bytes.length }), position);
  }
}

const knownFirst: ReadonlySet<string> = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp", "uuid"]);

function readTrack(
  trak: BoxReader,
  movieTimescale: number,
  fileBytes: number,
  fragmented: FragmentedSamples | undefined,
): MovieTrack | undefined {
  const mdia = trak.need("mdia");
  const hdlr = mdia.need("hdlr");
  hdlr.skip(8);
  const handler = hdlr.view(4).toString("latin1");
  if (handler !== "vide" && handler !== "soun") return undefined;
  const mdhd = mdia.need("mdhd");
  mdhd.skip(mdhd.version() === 1 ? 16 : 8);
  const timescale = mdhd.fourBytes();
  if (timescale === 0) throw damaged("the timescale of a track is zero");
  const tkhd = trak.need("tkhd");
  tkhd.skip(tkhd.version() === 1 ? 16 : 8);
  const id = tkhd.fourBytes();
  const stbl = mdia.need("minf").need("stbl");
  return {
    handler,
    isEnabled: (tkhd.flags & 1) === 1,
    entry: readSampleEntry(stbl.need("stsd")),
    edit: readEdit(trak.find("edts")?.find("elst"), movieTimescale),
    *readSamples() {
      const table = yield* readSampleTable(stbl, timescale, fileBytes);
      if (fragmented) yield* fragmented.append(id, table);
      return table;
    },
  };
}

const noEdit: Edit = { delaySeconds: 0, mediaStart: 0, durationSeconds: undefined };
const longestDelaySeconds = 3_600;

/** Empty edits at the beginning and the first one with media; later ones are rare, and many players ignore them. */
function readEdit(elst: BoxReader | undefined, movieTimescale: number): Edit {
  if (!elst) return noEdit;
  const isLong = elst.version() === 1;
  let delaySeconds = 0;
  for (let entries = elst.entries(isLong ? 20 : 12); entries > 0; entries--) {
    const seconds = (isLong ? elst.eightBytes() : elst.fourBytes()) / movieTimescale;
    const mediaStart = isLong ? elst.signedEightBytes() : elst.signedFourBytes();
    elst.skip(4);
    if (mediaStart >= 0) return { delaySeconds, mediaStart, durationSeconds: seconds > 0 && entries === 1 ? seconds : undefined };
    delaySeconds += seconds;
    if (delaySeconds > longestDelaySeconds) throw damaged("a track begins more than an hour late");
  }
  return { ...noEdit, delaySeconds };
}
