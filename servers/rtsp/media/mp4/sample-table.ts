import type { BoxReader } from "./box.ts";
import { damaged } from "./media-file-error.ts";

/** What is done in steps that take a fraction of a millisecond each; a file may have millions of samples. */
export type Steps<Result> = Generator<void, Result>;
/** In one step. */
export const samplesOfStep = 4_096;

/** Where the samples of a track are and when they are decoded and shown; 29 bytes each. */
export class SampleTable {
  readonly timescale: number;
  count = 0;
  offsets: Float64Array;
  sizes: Uint32Array;
  /** In units of the timescale. */
  decodeTimes: Float64Array;
  durations: Uint32Array;
  /** Time of display minus time of decoding. */
  displayOffsets: Int32Array;
  /** 1 where the file says that decoding can start there. */
  isSync: Uint8Array;

  constructor(timescale: number, room: number) {
    this.timescale = timescale;
    this.offsets = new Float64Array(room);
    this.sizes = new Uint32Array(room);
    this.decodeTimes = new Float64Array(room);
    this.durations = new Uint32Array(room);
    this.displayOffsets = new Int32Array(room);
    this.isSync = new Uint8Array(room);
  }

  /** Room for more; samples are never removed. */
  reserve(count: number): void {
    if (count <= this.sizes.length) return;
    const grown = new SampleTable(this.timescale, Math.min(mostSamples, Math.max(count, 2 * this.sizes.length)));
    grown.offsets.set(this.offsets);
    grown.sizes.set(this.sizes);
    grown.decodeTimes.set(this.decodeTimes);
    grown.durations.set(this.durations);
    grown.displayOffsets.set(this.displayOffsets);
    grown.isSync.set(this.isSync);
    const { count: used } = this;
    Object.assign(this, grown);
    this.count = used;
  }

  displayTime(sample: number): number {
    return (this.decodeTimes[sample] as number) + (this.displayOffsets[sample] as number);
  }

  endOfDisplay(sample: number): number {
    return this.displayTime(sample) + (this.durations[sample] as number);
  }
}

/** Twelve hours of pictures and sound have about three million. */
export const mostSamples = 4_000_000;
const mostSampleBytes = 16 << 20;
const longestSampleSeconds = 3_600;
const longestReorderSeconds = 60;

export function checkSize(bytes: number): void {
  if (bytes > mostSampleBytes) throw damaged(`a sample has ${bytes} bytes; at most ${mostSampleBytes} are read`);
}

export function checkDuration(duration: number, timescale: number): void {
  if (duration > longestSampleSeconds * timescale || duration > 0xffff_ffff) throw damaged("a sample lasts longer than an hour");
}

export function checkDisplayOffset(offset: number, timescale: number): void {
  if (Math.abs(offset) > longestReorderSeconds * timescale)
    throw damaged("a sample is shown more than a minute before or after its decoding");
}

/** Reads the tables of stbl, ISO/IEC 14496-12 §8.6 and §8.7. What they declare is checked against each other and the file's size. */
export function* readSampleTable(stbl: BoxReader, timescale: number, fileBytes: number): Steps<SampleTable> {
  const sizes = stbl.need("stsz");
  sizes.version();
  const commonSize = sizes.fourBytes();
  const count = sizes.fourBytes();
  if (count > mostSamples) throw damaged(`a track declares ${count} samples; at most ${mostSamples} are read`);
  if (commonSize === 0 && count * 4 > sizes.remaining) throw damaged(`a track declares ${count} samples and has sizes for fewer`);
  const table = new SampleTable(timescale, count);
  table.count = count;
  for (let sample = 0; sample < count; sample++) {
    const size = commonSize === 0 ? sizes.fourBytes() : commonSize;
    checkSize(size);
    table.sizes[sample] = size;
    if (sample % samplesOfStep === 0) yield;
  }
  yield* readTimes(stbl.need("stts"), table);
  const displayOffsets = stbl.find("ctts");
  if (displayOffsets) yield* readDisplayOffsets(displayOffsets, table);
  const sync = stbl.find("stss");
  if (sync) yield* readSyncSamples(sync, table);
  yield* placeSamples(stbl, table, fileBytes);
  return table;
}

function* readTimes(stts: BoxReader, table: SampleTable): Steps<void> {
  stts.version();
  let sample = 0;
  let time = 0;
  for (let entries = stts.entries(8); entries > 0 && sample < table.count; entries--) {
    const samples = stts.fourBytes();
    const duration = stts.fourBytes();
    checkDuration(duration, table.timescale);
    for (let end = Math.min(table.count, sample + samples); sample < end; sample++) {
      table.decodeTimes[sample] = time;
      table.durations[sample] = duration;
      time += duration;
      if (sample % samplesOfStep === 0) yield;
    }
    if (entries % samplesOfStep === 0) yield;
  }
  if (sample < table.count) throw damaged(`only ${sample} of ${table.count} samples have a time`);
}

function* readDisplayOffsets(ctts: BoxReader, table: SampleTable): Steps<void> {
  ctts.version();
  let sample = 0;
  for (let entries = ctts.entries(8); entries > 0 && sample < table.count; entries--) {
    const samples = ctts.fourBytes();
    // Version 0 has no sign, but writers use one in both.
    const offset = ctts.signedFourBytes();
    checkDisplayOffset(offset, table.timescale);
    for (let end = Math.min(table.count, sample + samples); sample < end; sample++) {
      table.displayOffsets[sample] = offset;
      if (sample % samplesOfStep === 0) yield;
    }
    if (entries % samplesOfStep === 0) yield;
  }
}

function* readSyncSamples(stss: BoxReader, table: SampleTable): Steps<void> {
  stss.version();
  for (let entries = stss.entries(4); entries > 0; entries--) {
    const number = stss.fourBytes();
    if (number < 1 || number > table.count) throw damaged(`sample ${number} is a key frame, and there are ${table.count}`);
    table.isSync[number - 1] = 1;
    if (entries % samplesOfStep === 0) yield;
  }
}

/** stsc with stco or co64: samples follow each other in chunks. */
function* placeSamples(stbl: BoxReader, table: SampleTable, fileBytes: number): Steps<void> {
  const shortOffsets = stbl.find("stco");
  const offsets = shortOffsets ?? stbl.need("co64");
  offsets.version();
  const chunks = offsets.entries(shortOffsets ? 4 : 8);
  const runs = stbl.need("stsc");
  runs.version();
  let runsLeft = runs.entries(12);
  let nextRun = runsLeft > 0 ? runs.fourBytes() : 0;
  if (chunks > 0 && table.count > 0 && nextRun !== 1) throw damaged("its first chunk is not described");
  let samplesPerChunk = 0;
  let sample = 0;
  for (let chunk = 1; chunk <= chunks && sample < table.count; chunk++) {
    if (runsLeft > 0 && chunk === nextRun) {
      samplesPerChunk = runs.fourBytes();
      if (runs.fourBytes() !== 1) throw damaged("a track changes its format on the way");
      runsLeft--;
      const following = runsLeft > 0 ? runs.fourBytes() : 0;
      if (runsLeft > 0 && following <= nextRun) throw damaged("its runs of chunks are out of order");
      nextRun = following;
    }
    let offset = shortOffsets ? offsets.fourBytes() : offsets.eightBytes();
    for (let end = Math.min(table.count, sample + samplesPerChunk); sample < end; sample++) {
      const size = table.sizes[sample] as number;
      if (offset + size > fileBytes) throw damaged(`sample ${sample + 1} of ${table.count} lies beyond the end of the file`);
      table.offsets[sample] = offset;
      offset += size;
      if (sample % samplesOfStep === 0) yield;
    }
    if (chunk % samplesOfStep === 0) yield;
  }
  if (sample < table.count) throw damaged(`only ${sample} of ${table.count} samples have a place in the file`);
}
