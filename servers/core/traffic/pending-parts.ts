import type { RecordWriter } from "./record-writer.ts";

export interface PartLimits {
  /** Most waiting parts of one row; further ones are dropped and counted. */
  readonly parts: number;
  readonly bytes: number;
}

export const partLimits: PartLimits = { parts: 2_000, bytes: 256 << 10 };

/** The parts of one row since its last batch. Parts that were sent are released. */
export class PendingParts {
  /** All parts, kept or not. */
  total = 0;
  /** Bytes of content of all parts. */
  bytes = 0;
  /** Bytes of memory that the waiting ones hold. */
  held = 0;
  readonly #limits: PartLimits;
  #index: number[] = [];
  #at: number[] = [];
  #bytes: number[] = [];
  #flags: number[] = [];
  #row: number[] = [];
  #content: Uint8Array[] = [];

  constructor(limits = partLimits) {
    this.#limits = limits;
  }

  /** Keeps a reference to `content`, which may be truncated; `bytes` is its full length. Returns the part's index. */
  add(content: Uint8Array, bytes: number, flags = 0, row = 0): number {
    const index = this.total++;
    this.bytes += bytes;
    if (this.#content.length >= this.#limits.parts || this.held + content.length > this.#limits.bytes) return index;
    this.#index.push(index);
    this.#at.push(Date.now());
    this.#bytes.push(bytes);
    this.#flags.push(flags);
    this.#row.push(row);
    this.#content.push(content);
    this.held += content.length;
    return index;
  }

  write(record: RecordWriter): void {
    const waiting = this.#content.length;
    if (waiting === 0) return;
    for (let place = 0; place < waiting; place++) {
      record.part(
        this.#index[place] as number,
        this.#at[place] as number,
        this.#bytes[place] as number,
        this.#flags[place] as number,
        this.#row[place] as number,
        this.#content[place] as Uint8Array,
      );
    }
    this.#index = [];
    this.#at = [];
    this.#bytes = [];
    this.#flags = [];
    this.#row = [];
    this.#content = [];
    this.held = 0;
  }
}
