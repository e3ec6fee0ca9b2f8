import type { BoxReader } from "./box.ts";
import { damaged } from "./media-file-error.ts";
import { checkDisplayOffset, checkDuration, checkSize, mostSamples, type SampleTable, type Steps, samplesOfStep } from "./sample-table.ts";

interface Defaults {
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
}

/** sample_is_non_sync_sample, ISO/IEC 14496-12 §8.8.3.1. */
const notSync = 0x1_0000;
/** In one step, besides their samples. */
const runsOfStep = 256;

/** `position` is where the moof box begins in the file. */
export type ReadFragment = (moof: BoxReader, position: number) => Steps<void>;

/** The samples of a file that was written in fragments, as recorders and browsers do (ISO/IEC 14496-12 §8.8). */
export class FragmentedSamples {
  readonly #defaults = new Map<number, Defaults>();
  readonly #fileBytes: number;
  readonly #readFragments: (read: ReadFragment) => Steps<void>;

  constructor(mvex: BoxReader, fileBytes: number, readFragments: (read: ReadFragment) => Steps<void>) {
    this.#fileBytes = fileBytes;
    this.#readFragments = readFragments;
    for (const box of mvex.children()) {
      if (box.type !== "trex") continue;
      const trex = mvex.of(box);
      trex.version();
      const id = trex.fourBytes();
      trex.skip(4);
      this.#defaults.set(id, { duration: trex.fourBytes(), size: trex.fourBytes(), flags: trex.fourBytes() });
    }
  }

  /** The samples of the track with this number, behind those that the table has. */
  *append(id: number, table: SampleTable): Steps<void> {
    const defaults = this.#defaults.get(id) ?? { duration: 0, size: 0, flags: 0 };
    const readTrackFragment = (traf: BoxReader, position: number) => this.#readTrackFragment(traf, position, id, defaults, table);
    yield* this.#readFragments(function* (moof, position) {
      for (const box of moof.children()) {
        if (box.type === "traf") yield* readTrackFragment(moof.of(box), position);
        yield;
      }
    });
  }

  *#readTrackFragment(traf: BoxReader, moofPosition: number, id: number, defaults: Defaults, table: SampleTable): Steps<void> {
    const tfhd = traf.need("tfhd");
    tfhd.version();
    if (tfhd.fourBytes() !== id) return;
    const { flags } = tfhd;
    const base = flags & 0x1 ? tfhd.eightBytes() : moofPosition;
    if (flags & 0x2 && tfhd.fourBytes() !== 1) throw damaged("a track changes its format on the way");
    const duration = flags & 0x8 ? tfhd.fourBytes() : defaults.duration;
    const size = flags & 0x10 ? tfhd.fourBytes() : defaults.size;
    const sampleFlags = flags & 0x20 ? tfhd.fourBytes() : defaults.flags;
    const last = table.count - 1;
    let time = last < 0 ? 0 : (table.decodeTimes[last] as number) + (table.durations[last] as number);
    const tfdt = traf.find("tfdt");
    if (tfdt) {
      const declared = tfdt.version() === 1 ? tfdt.eightBytes() : tfdt.fourBytes();
      if (last >= 0 && declared < (table.decodeTimes[last] as number)) throw damaged("its fragments are out of order");
      time = declared;
    }
    let offset = base;
    let runs = 0;
    for (const box of traf.children()) {
      if (box.type !== "trun") continue;
      const run = yield* this.#readRun(traf.of(box), { duration, size, flags: sampleFlags }, base, offset, time, table);
      offset = run.offset;
      time = run.time;
      if (++runs % runsOfStep === 0) yield;
    }
  }

  *#readRun(
    trun: BoxReader,
    defaults: Defaults,
    base: number,
    following: number,
    start: number,
    table: SampleTable,
  ): Steps<{ offset: number; time: number }> {
    trun.version();
    const { flags } = trun;
    const count = trun.fourBytes();
    let offset = flags & 0x1 ? base + trun.signedFourBytes() : following;
    const firstFlags = flags & 0x4 ? trun.fourBytes() : undefined;
    const entryBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((bit) => flags & bit).length;
    if (count * entryBytes > trun.remaining) throw damaged(`a fragment declares ${count} samples and has room for fewer`);
    if (table.count + count > mostSamples) throw damaged(`it has more than ${mostSamples} samples`);
    table.reserve(table.count + count);
    let time = start;
    for (let index = 0; index < count; index++) {
      const duration = flags & 0x100 ? trun.fourBytes() : defaults.duration;
      const size = flags & 0x200 ? trun.fourBytes() : defaults.size;
      const ownFlags = flags & 0x400 ? trun.fourBytes() : undefined;
      const displayOffset = flags & 0x800 ? trun.signedFourBytes() : 0;
      checkDuration(duration, table.timescale);
      checkSize(size);
      checkDisplayOffset(displayOffset, table.timescale);
      if (offset < 0 || offset + size > this.#fileBytes) {
        // The fragment that was being written when the recording was cut off.
        return { offset, time };
      }
      const sample = table.count++;
      table.offsets[sample] = offset;
      table.sizes[sample] = size;
      table.decodeTimes[sample] = time;
      table.durations[sample] = duration;
      table.displayOffsets[sample] = displayOffset;
      const sampleFlags = ownFlags ?? (index === 0 && firstFlags !== undefined ? firstFlags : defaults.flags);
      table.isSync[sample] = sampleFlags & notSync ? 0 : 1;
      offset += size;
      time += duration;
      if (sample % samplesOfStep === 0) yield;
    }
    return { offset, time };
  }
}
