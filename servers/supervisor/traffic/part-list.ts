import { type RecordedPart, readPart } from "../../core/traffic/detail-decoder.ts";

export interface PartListLimits {
  readonly parts: number;
  readonly bytes: number;
}

/** Most parts of one row. The oldest are evicted first, some dozens at a time. */
const partListLimits: PartListLimits = { parts: 20_000, bytes: 4 << 20 };

interface Chunk {
  bytes: Buffer;
  used: number;
  parts: number;
  contentBytes: number;
  lastIndex: number;
}

const firstChunkBytes = 1 << 10;
const chunkBytes = 32 << 10;

/** The newest parts of one row as bytes, in the order of their indices. */
export class PartList {
  /** Bytes of memory. */
  held = 0;
  /** Number of kept parts. */
  parts = 0;
  /** Bytes of content of the kept parts, before truncation. */
  contentBytes = 0;
  #chunks: Chunk[] = [];
  readonly #limits: PartListLimits;

  constructor(limits = partListLimits) {
    this.#limits = limits;
  }

  /** Copies one part, prefixed with its length. */
  add(part: Buffer): void {
    const chunk = this.#chunkFor(part.length);
    chunk.bytes.set(part, chunk.used);
    chunk.used += part.length;
    chunk.parts++;
    chunk.lastIndex = part.readUInt32LE(4);
    const content = part.readUInt32LE(16);
    chunk.contentBytes += content;
    this.contentBytes += content;
    this.parts++;
    while (this.#chunks.length > 1 && (this.parts > this.#limits.parts || this.held > this.#limits.bytes)) this.dropOldest();
  }

  /** More than the newest chunk is left. */
  get canDrop(): boolean {
    return this.#chunks.length > 1;
  }

  /** Evicts the oldest chunk, but not the newest. */
  dropOldest(): void {
    if (!this.canDrop) return;
    const chunk = this.#chunks.shift() as Chunk;
    this.held -= chunk.bytes.length;
    this.parts -= chunk.parts;
    this.contentBytes -= chunk.contentBytes;
  }

  /** The parts with indices from `from` on. */
  *from(from: number): Generator<RecordedPart> {
    for (const chunk of this.#chunks) {
      if (chunk.lastIndex < from) continue;
      for (let at = 0; at < chunk.used; ) {
        const end = at + 4 + chunk.bytes.readUInt32LE(at);
        if (chunk.bytes.readUInt32LE(at + 4) >= from) yield readPart(chunk.bytes.subarray(at + 4, end));
        at = end;
      }
    }
  }

  /** The index of the first of the newest parts: as many as the count and the bytes allow, at least one. */
  newest(count: number, mostBytes: number): number {
    const places: { readonly index: number; readonly length: number }[] = [];
    for (const { bytes, used } of this.#chunks) {
      for (let at = 0; at < used; at += 4 + bytes.readUInt32LE(at))
        places.push({ index: bytes.readUInt32LE(at + 4), length: bytes.readUInt32LE(at) });
    }
    let first = places.length - 1;
    for (let left = mostBytes - (places[first]?.length ?? 0); first > 0 && places.length - first < count; first--) {
      left -= (places[first - 1] as { length: number }).length;
      if (left < 0) break;
    }
    return places[first]?.index ?? 0;
  }

  #chunkFor(needed: number): Chunk {
    const last = this.#chunks.at(-1);
    if (last && last.bytes.length - last.used >= needed) return last;
    const size = Math.max(needed, last ? Math.min(chunkBytes, 2 * last.bytes.length) : firstChunkBytes);
    const chunk: Chunk = { bytes: Buffer.allocUnsafeSlow(size), used: 0, parts: 0, contentBytes: 0, lastIndex: 0 };
    this.#chunks.push(chunk);
    this.held += size;
    return chunk;
  }
}
