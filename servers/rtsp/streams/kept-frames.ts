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

  /** At most so many bytes of frames; `count` is told what they and their packets take. */
  constructor(most: number, count: (bytes: number) => void) {
    this.#most = most;
    this.#count = count;
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
    this.#all = [];
    this.#bytes = 0;
    this.#packetBytes = 0;
    this.#count(0);
  }
}
