import type { RowPlace } from "./row-index.ts";
import type { SegmentPool } from "./traffic-memory.ts";

interface Segment {
  readonly bytes: Buffer;
  used: number;
  /** Position of its oldest record. */
  head: number;
}

/** The records of ended rows as bytes, in the order in which they ended: appended at the end, evicted from the start. */
export class RecordLog {
  /** Allocated memory. */
  bytes = 0;
  records = 0;
  readonly #pool: SegmentPool;
  #segments: Segment[] = [];
  /** Number of the first segment; 0 is reserved for rows that are not in the log. */
  #first = 1;

  constructor(pool: SegmentPool) {
    this.#pool = pool;
  }

  append(row: Uint8Array, detail: readonly Uint8Array[]): RowPlace {
    let detailBytes = 0;
    for (const piece of detail) detailBytes += piece.length;
    const segment = this.#segmentFor(8 + row.length + detailBytes);
    const offset = segment.used;
    const { bytes } = segment;
    let at = bytes.writeUInt32LE(row.length, offset);
    bytes.set(row, at);
    at = bytes.writeUInt32LE(detailBytes, at + row.length);
    for (const piece of detail) {
      bytes.set(piece, at);
      at += piece.length;
    }
    segment.used = at;
    this.records++;
    return { segment: this.#first + this.#segments.length - 1, offset };
  }

  /** Views, valid until the record is evicted. */
  row({ segment, offset }: RowPlace): Buffer {
    const { bytes } = this.#segments[segment - this.#first] as Segment;
    return bytes.subarray(offset + 4, offset + 4 + bytes.readUInt32LE(offset));
  }

  detail({ segment, offset }: RowPlace): Buffer {
    const { bytes } = this.#segments[segment - this.#first] as Segment;
    const at = offset + 4 + bytes.readUInt32LE(offset);
    return bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at));
  }

  /** Id of the row that ended first; undefined in an empty log. */
  oldest(): RowPlace | undefined {
    const [segment] = this.#segments;
    return segment && this.records > 0 ? { segment: this.#first, offset: segment.head } : undefined;
  }

  dropOldest(): void {
    const [segment] = this.#segments;
    if (!segment || this.records === 0) return;
    this.records--;
    const detailAt = segment.head + 4 + segment.bytes.readUInt32LE(segment.head);
    segment.head = detailAt + 4 + segment.bytes.readUInt32LE(detailAt);
    if (segment.head < segment.used) return;
    this.#segments.shift();
    this.#first++;
    this.bytes -= segment.bytes.length;
    this.#pool.give(segment.bytes);
  }

  #segmentFor(needed: number): Segment {
    const last = this.#segments.at(-1);
    if (last && last.bytes.length - last.used >= needed) return last;
    const segment: Segment = { bytes: this.#pool.take(needed), used: 0, head: 0 };
    this.#segments.push(segment);
    this.bytes += segment.bytes.length;
    return segment;
  }
}
