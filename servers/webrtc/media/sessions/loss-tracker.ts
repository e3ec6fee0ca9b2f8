import { sequenceDistance } from "../../../core/rtp/rtp-packet.ts";

/** A packet is asked for again after this time, and so often. */
const againMs = 60;
const mostTries = 8;
/** Missing packets that are asked for; more of them are given up. */
const mostMissing = 300;
/** A larger step of the sequence number is another sequence. */
const mostStep = 3_000;

interface Missing {
  askedMs: number;
  tries: number;
}

/** Finds the packets of a track that are missing, and says which to ask for (RFC 4585 §6.2.1). */
export class LossTracker {
  /** Packets that came after they had been asked for. */
  recovered = 0;
  /** Packets that were given up. */
  givenUp = 0;
  #highest: number | undefined;
  readonly #missing = new Map<number, Missing>();

  received(sequence: number): void {
    const highest = this.#highest;
    const ahead = highest === undefined ? 1 : sequenceDistance(sequence, highest);
    if (highest === undefined || Math.abs(ahead) > mostStep) {
      this.#missing.clear();
      this.#highest = sequence;
      return;
    }
    if (ahead <= 0) {
      if (this.#missing.delete(sequence)) this.recovered++;
      return;
    }
    this.#highest = sequence;
    const missing = this.#missing.size + ahead - 1;
    if (missing > mostMissing) {
      this.givenUp += missing;
      this.#missing.clear();
      return;
    }
    for (let step = 1; step < ahead; step++) this.#missing.set((highest + step) & 0xffff, { askedMs: Number.NEGATIVE_INFINITY, tries: 0 });
  }

  /** The packets that are due to be asked for now. */
  due(nowMs: number): number[] {
    const due: number[] = [];
    for (const [sequence, missing] of this.#missing) {
      if (nowMs - missing.askedMs < againMs) continue;
      if (missing.tries === mostTries) {
        this.#missing.delete(sequence);
        this.givenUp++;
        continue;
      }
      missing.tries++;
      missing.askedMs = nowMs;
      due.push(sequence);
    }
    return due;
  }
}
