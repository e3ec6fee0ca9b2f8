import type { RecordedPart } from "../../core/traffic/detail-decoder.ts";
import { PartList } from "./part-list.ts";

/** Before a length and the head of a part. */
const shortestPart = 29;
/** Lists of one bucket differ by less than this factor. */
const bucketFactor = Math.SQRT2;

/** A list that can lose its oldest chunk has a place in the bucket of its size. */
interface Entry {
  readonly list: PartList;
  bucket: number;
  place: number;
}

const inNoBucket = -1;

/** The parts of all rows of a service, by the row's id. */
export class PartLists {
  /** Memory of all of them. */
  bytes = 0;
  readonly #entries = new Map<number, Entry>();
  /** By size, so that the longest are found without a look at all. */
  readonly #buckets: Entry[][] = [];

  get(row: number): PartList | undefined {
    return this.#entries.get(row)?.list;
  }

  /** Those with indices from `from` on. */
  from(row: number, from: number): Iterable<RecordedPart> {
    return this.get(row)?.from(from) ?? [];
  }

  /** Parts one behind the other, each with its length before it; what follows a damaged one is left out. */
  add(row: number, parts: Buffer): void {
    let entry = this.#entries.get(row);
    if (!entry) {
      entry = { list: new PartList(), bucket: inNoBucket, place: 0 };
      this.#entries.set(row, entry);
    }
    const { list } = entry;
    const before = list.held;
    for (let at = 0; at + shortestPart <= parts.length; ) {
      const end = at + 4 + parts.readUInt32LE(at);
      if (end > parts.length || end < at + shortestPart) break;
      list.add(parts.subarray(at, end));
      at = end;
    }
    this.#changed(entry, before);
  }

  drop(row: number): void {
    const entry = this.#entries.get(row);
    if (!entry) return;
    this.#entries.delete(row);
    this.#leave(entry);
    this.bytes -= entry.list.held;
  }

  /** The rows that hold the most parts lose their oldest ones: at least so many bytes, if there are as many. False if there are none. */
  cut(bytes: number): boolean {
    const target = this.bytes - bytes;
    const before = this.bytes;
    while (this.bytes > target) {
      const entry = this.#buckets.at(-1)?.at(-1);
      if (!entry) break;
      const { held } = entry.list;
      entry.list.dropOldest();
      this.#changed(entry, held);
    }
    return this.bytes < before;
  }

  #changed(entry: Entry, before: number): void {
    const { list } = entry;
    this.bytes += list.held - before;
    const bucket = list.canDrop ? Math.floor(Math.log(list.held) / Math.log(bucketFactor)) : inNoBucket;
    if (bucket === entry.bucket) return;
    this.#leave(entry);
    if (bucket === inNoBucket) return;
    while (this.#buckets.length <= bucket) this.#buckets.push([]);
    const entries = this.#buckets[bucket] as Entry[];
    entry.bucket = bucket;
    entry.place = entries.push(entry) - 1;
  }

  /** The last one of the bucket takes its place. */
  #leave(entry: Entry): void {
    const entries = this.#buckets[entry.bucket];
    if (!entries) return;
    const last = entries.pop() as Entry;
    if (last !== entry) {
      entries[entry.place] = last;
      last.place = entry.place;
    }
    entry.bucket = inNoBucket;
    while (this.#buckets.at(-1)?.length === 0) this.#buckets.pop();
  }
}
