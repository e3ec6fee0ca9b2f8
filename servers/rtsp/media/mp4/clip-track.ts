import { h264Nal, h264NalType } from "../h264.ts";
import { h265Nal, h265NalType, isH265KeyType } from "../h265.ts";
import { splitLengthPrefixed } from "../nal-units.ts";
import type { Frame, Track } from "../track.ts";
import type { ByteSource } from "./byte-source.ts";
import { damaged } from "./media-file-error.ts";
import type { Edit } from "./movie.ts";
import type { AudioEntry, VideoEntry } from "./sample-entry.ts";
import { type SampleTable, type Steps, samplesOfStep } from "./sample-table.ts";

/** RFC 3640 §3.3.6 has 13 bits for the size of a frame. */
const mostAacBytes = 8_191;

interface ChosenTrack {
  readonly entry: VideoEntry | AudioEntry;
  readonly edit: Edit;
  readonly table: SampleTable;
}

/** The frames of one track between the limits that its edit sets, on the clock of the stream. */
export class ClipTrack {
  readonly track: Track;
  /** Of display; decoding may begin earlier. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Of all frames. */
  readonly sampleBytes: number;
  readonly #source: ByteSource;
  readonly #index: number;
  readonly #table: SampleTable;
  readonly #lengthBytes: 1 | 2 | 4;
  readonly #first: number;
  readonly #end: number;
  /** From units of the file's timescale, without the edit's start, to seconds of the clip. */
  readonly #mediaStart: number;
  /** In units of the file: so much earlier are pictures decoded than it says, where it shows some before that (version 1 of ctts and trun). */
  readonly #decodedEarlier: number;
  #offsetSeconds: number;

  /** Throws MEDIA_DAMAGED where nothing can be shown. */
  static *open(source: ByteSource, index: number, chosen: ChosenTrack): Steps<ClipTrack> {
    const { entry, edit, table } = chosen;
    const first = yield* entry.track.kind === "video" ? firstPicture(table, edit.mediaStart) : firstSound(table, edit.mediaStart);
    const end = yield* endOfEdit(table, first, edit);
    if (first >= end) throw damaged("the edit list of a track leaves nothing of it");
    let earliest = Number.POSITIVE_INFINITY;
    let latest = Number.NEGATIVE_INFINITY;
    let bytes = 0;
    let decodedEarlier = 0;
    for (let sample = first; sample < end; sample++) {
      earliest = Math.min(earliest, table.displayTime(sample));
      latest = Math.max(latest, table.endOfDisplay(sample));
      bytes += table.sizes[sample] as number;
      decodedEarlier = Math.max(decodedEarlier, -(table.displayOffsets[sample] as number));
      if (sample % samplesOfStep === 0) yield;
    }
    return new ClipTrack(source, index, chosen, { first, end, earliest, latest, bytes, decodedEarlier });
  }

  private constructor(
    source: ByteSource,
    index: number,
    { entry, edit, table }: ChosenTrack,
    {
      first,
      end,
      earliest,
      latest,
      bytes,
      decodedEarlier,
    }: Readonly<Record<"first" | "end" | "earliest" | "latest" | "bytes" | "decodedEarlier", number>>,
  ) {
    this.#source = source;
    this.#index = index;
    this.#table = table;
    this.#lengthBytes = "lengthBytes" in entry ? entry.lengthBytes : 4;
    this.#mediaStart = edit.mediaStart;
    this.#decodedEarlier = decodedEarlier;
    this.#offsetSeconds = edit.delaySeconds;
    this.#first = first;
    this.#end = end;
    this.sampleBytes = bytes;
    this.startSeconds = this.#secondsOf(earliest);
    this.endSeconds = this.#secondsOf(latest);
    this.track = entry.track.kind === "video" ? this.#withParameterSets(entry.track) : entry.track;
  }

  get frameCount(): number {
    return this.#end - this.#first;
  }

  get decodedSeconds(): number {
    const last = this.#end - 1;
    const { decodeTimes, durations, timescale } = this.#table;
    return ((decodeTimes[last] as number) + (durations[last] as number) - (decodeTimes[this.#first] as number)) / timescale;
  }

  /** The second of the file that becomes zero. */
  begin(startSeconds: number): void {
    this.#offsetSeconds -= startSeconds;
  }

  decodeSeconds(frame: number): number {
    return this.#secondsOf(this.#decodeTime(this.#first + frame));
  }

  #decodeTime(sample: number): number {
    return (this.#table.decodeTimes[sample] as number) - this.#decodedEarlier;
  }

  frame(index: number): Frame {
    const sample = this.#first + index;
    const { codec, clockRate } = this.track;
    const bytes = this.#read(sample);
    const pts = this.#clock(this.#table.displayTime(sample), clockRate);
    const dts = this.#clock(this.#decodeTime(sample), clockRate);
    if (codec !== "h264" && codec !== "h265") {
      if (bytes.length === 0 || (codec === "aac" && bytes.length > mostAacBytes)) {
        throw damaged(`a frame of sound has ${bytes.length} bytes`);
      }
      return { track: this.#index, units: [bytes], pts, dts, isKey: true };
    }
    const { units, isKey } = codec === "h264" ? h264Picture(this.#units(bytes, sample)) : h265Picture(this.#units(bytes, sample));
    return { track: this.#index, units, pts, dts, isKey: isKey || this.#table.isSync[sample] === 1 };
  }

  #read(sample: number): Buffer {
    return this.#source.read(this.#table.offsets[sample] as number, this.#table.sizes[sample] as number);
  }

  #units(bytes: Buffer, sample: number): Buffer[] {
    try {
      return splitLengthPrefixed(bytes, this.#lengthBytes);
    } catch (error) {
      if (error instanceof RangeError) throw damaged(`picture ${sample + 1} is broken: ${error.message}`);
      throw error;
    }
  }

  #secondsOf(mediaTime: number): number {
    return (mediaTime - this.#mediaStart) / this.#table.timescale + this.#offsetSeconds;
  }

  /** Rounds once, so that a whole number of units stays one. */
  #clock(mediaTime: number, clockRate: number): number {
    return Math.round(((mediaTime - this.#mediaStart) * clockRate) / this.#table.timescale + this.#offsetSeconds * clockRate);
  }

  /** avc3 and hev1 have them in the first picture alone. */
  #withParameterSets(track: Track): Track {
    if ((track.codec !== "h264" && track.codec !== "h265") || (track.sps.length > 0 && track.pps.length > 0)) return track;
    const units = this.#units(this.#read(this.#first), this.#first);
    const typeOf = track.codec === "h264" ? h264NalType : h265NalType;
    const ofType = (type: number) => units.filter((unit) => typeOf(unit) === type).map((unit) => Buffer.from(unit));
    const found =
      track.codec === "h264"
        ? { ...track, sps: ofType(h264Nal.sps), pps: ofType(h264Nal.pps) }
        : { ...track, vps: ofType(h265Nal.vps), sps: ofType(h265Nal.sps), pps: ofType(h265Nal.pps) };
    if (found.sps.length === 0 || found.pps.length === 0) throw damaged("its pictures have no parameter sets");
    return found;
  }
}

const droppedH264: ReadonlySet<number> = new Set([h264Nal.sps, h264Nal.pps, h264Nal.delimiter, h264Nal.filler]);

function h264Picture(all: readonly Buffer[]): { units: Buffer[]; isKey: boolean } {
  const units = all.filter((unit) => !droppedH264.has(h264NalType(unit)));
  return { units, isKey: units.some((unit) => h264NalType(unit) === h264Nal.idr) };
}

const droppedH265: ReadonlySet<number> = new Set([h265Nal.vps, h265Nal.sps, h265Nal.pps, h265Nal.delimiter, h265Nal.filler]);

function h265Picture(all: readonly Buffer[]): { units: Buffer[]; isKey: boolean } {
  const units = all.filter((unit) => unit.length > 2 && !droppedH265.has(h265NalType(unit)));
  return { units, isKey: units.some((unit) => isH265KeyType(h265NalType(unit))) };
}

/** The last picture at which decoding can start and all that is shown from `mediaStart` on is still to come. */
function* firstPicture(table: SampleTable, mediaStart: number): Steps<number> {
  let sample = 0;
  while (sample < table.count && table.displayTime(sample) < mediaStart) if (++sample % samplesOfStep === 0) yield;
  if (sample === table.count) return sample;
  while (sample > 0 && table.isSync[sample] !== 1) if (--sample % samplesOfStep === 0) yield;
  return sample;
}

/** Sound that ends before `mediaStart` is the encoder's priming. */
function* firstSound(table: SampleTable, mediaStart: number): Steps<number> {
  let sample = 0;
  while (sample < table.count && table.endOfDisplay(sample) <= mediaStart) if (++sample % samplesOfStep === 0) yield;
  return sample;
}

function* endOfEdit(table: SampleTable, first: number, { mediaStart, durationSeconds }: Edit): Steps<number> {
  if (durationSeconds === undefined) return table.count;
  // The duration is rounded to the movie's timescale, often milliseconds: a frame that begins just before the end is behind it.
  const end = mediaStart + (durationSeconds - 0.001) * table.timescale;
  let last = table.count;
  while (last > first && table.displayTime(last - 1) >= end) if (--last % samplesOfStep === 0) yield;
  return last;
}
