import type { RecordWriter } from "./record-writer.ts";

export interface PartLimits {
  /** Most waiting parts of one row; further ones are dropped and counted. */
  readonly parts: number;
  readonly bytes: number;
}

const partLimits: PartLimits = { parts: 2_000, bytes: 512 << 10 };

/** What a part takes beside its content. */
const partMemory = 128;
/** Numbers of a part in `#numbers`: index, time, bytes, flags, row. */
const numbersPerPart = 5;
/** Room that a row keeps for its next parts: new arrays for each batch of each stream would all reach the old generation. */
const keptRoom = 64;

/** The parts of one row since its last batch. Parts that were sent are released. */
export class PendingParts {
  /** All parts, kept or not. */
  total = 0;
  /** Bytes of content of all parts. */
  bytes = 0;
  readonly #limits: PartLimits;
  /** Of the waiting ones. */
  #contentBytes = 0;
  #waiting = 0;
  #numbers: number[] = [];
  #content: (Uint8Array | undefined)[] = [];

  constructor(limits = partLimits) {
    this.#limits = limits;
  }

  /** Memory of the waiting ones. */
  get held(): number {
    return this.#contentBytes + this.#waiting * partMemory;
  }

  hasRoom(bytes: number): boolean {
    return this.#waiting < this.#limits.parts && this.#contentBytes + bytes <= this.#limits.bytes;
  }

  /** Keeps a reference to `content`, which may be truncated; `bytes` is its full length. Returns the part's index. */
  add(content: Uint8Array, bytes: number, flags = 0, row = 0): number {
    const index = this.total++;
    this.bytes += bytes;
    if (!this.hasRoom(content.length)) return index;
    let at = this.#waiting * numbersPerPart;
    this.#numbers[at++] = index;
    this.#numbers[at++] = Date.now();
    this.#numbers[at++] = bytes;
    this.#numbers[at++] = flags;
    this.#numbers[at] = row;
    this.#content[this.#waiting++] = content;
    this.#contentBytes += content.length;
    return index;
  }

  /** What waits is left out, and stays counted. */
  drop(): void {
    this.#release();
  }

  write(record: RecordWriter): void {
    const numbers = this.#numbers as readonly number[];
    for (let part = 0, at = 0; part < this.#waiting; part++) {
      const content = this.#content[part] as Uint8Array;
      record.part(numbers[at++]!, numbers[at++]!, numbers[at++]!, numbers[at++]!, numbers[at++]!, content);
    }
    this.#release();
  }

  #release(): void {
    this.#content.fill(undefined, 0, this.#waiting);
    if (this.#waiting > keptRoom) {
      this.#numbers = [];
      this.#content = [];
    }
    this.#waiting = 0;
    this.#contentBytes = 0;
  }
}
