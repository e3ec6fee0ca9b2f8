import { memoryOf } from "../media/frame-memory.ts";
import type { Frame, FramePackets } from "../media/track.ts";

export interface KeptFrame {
  readonly frame: Frame;
  /** "shared": the packet of a frame before it has it. */
  packets: FramePackets | "shared" | undefined;
}

/** The frames since the last key frame, none where they are too many. */
export class KeptFrames {
  readonly #most: number;
  readonly #count: (bytes: number) => void;
  #all: KeptFrame[] = [];
  #bytes = 0;
  /** Of the packets that they have been made into. */
  #packetBytes = 0;
  /** So many were kept before these. */
  #forgotten = 0;

  /** At most so many bytes of frames; `count` is told what they and their packets take. */
  constructor(most: number, count: (bytes: number) => void) {
    this.#most = most;
    this.#count = count;
  }

  /** Of the frames, and what they take beside their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many were forgotten so far: the number of the first one that is kept. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** It may be emptied while they are read. */
  get all(): readonly KeptFrame[] {
    return this.#all;
  }

  add(kept: KeptFrame, isKey: boolean): void {
    if (isKey) this.clear();
    // Without its beginning the group is useless.
    else if (this.#all.length === 0) return;
    this.#bytes += memoryOf(kept.frame);
    if (this.#bytes > this.#most) {
      this.clear();
      return;
    }
    this.#all.push(kept);
    this.#count(this.#bytes + this.#packetBytes);
  }

  /** One or more of them have been made into packets. */
  packetized({ bytes }: FramePackets): void {
    if (this.#all.length === 0) return;
    this.#packetBytes += bytes.length;
    this.#count(this.#bytes + this.#packetBytes);
  }

  clear(): void {
    this.#forgotten += this.#all.length;
    this.#all = [];
    this.#bytes = 0;
    this.#packetBytes = 0;
    this.#count(0);
  }
}

/** How far somebody is who takes them one by one, while others follow. */
export class KeptCursor {
  readonly #kept: KeptFrames;
  #next: number;

  /** At the first one. */
  constructor(kept: KeptFrames) {
    this.#kept = kept;
    this.#next = kept.forgotten;
  }

  /** Some were forgotten before they were taken: it goes on with the next key frame. */
  get isPassed(): boolean {
    return this.#next < this.#kept.forgotten;
  }

  /** Undefined where none is left now. */
  take(): KeptFrame | undefined {
    const { all, forgotten } = this.#kept;
    this.#next = Math.max(this.#next, forgotten);
    const kept = all[this.#next - forgotten];
    if (kept) this.#next++;
    return kept;
  }
}
