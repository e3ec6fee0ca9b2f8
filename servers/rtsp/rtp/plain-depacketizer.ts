import type { DepacketizedFrame, Depacketizer } from "../media/track.ts";

/** Opus and G.711: a payload is a frame, whose length is a multiple of `unitBytes`. */
export class PlainDepacketizer implements Depacketizer {
  dropped = 0;
  readonly #unitBytes: number;

  constructor(unitBytes: number) {
    this.#unitBytes = unitBytes;
  }

  push(payload: Buffer, timestamp: number): readonly DepacketizedFrame[] {
    if (payload.length > 0 && payload.length % this.#unitBytes === 0) return [{ timestamp, units: [payload], isKey: true }];
    this.dropped++;
    return [];
  }
}
