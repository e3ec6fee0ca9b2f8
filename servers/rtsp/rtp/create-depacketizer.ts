import type { DepacketizedFrame, Depacketizer, Track } from "../media/track.ts";
import { AacDepacketizer } from "./aac-depacketizer.ts";
import { NalDepacketizer } from "./nal-depacketizer.ts";
import { h264Payloads, h265Payloads } from "./nal-payload-reader.ts";

/** `parameters` are those of the track's `a=fmtp` line, with names in lower case. */
export function createDepacketizer(track: Track, parameters: Readonly<Record<string, string>> = {}): Depacketizer {
  switch (track.codec) {
    case "h264":
      return new NalDepacketizer(h264Payloads);
    case "h265":
      // RFC 7798 §7.1: with it, units carry their decoding order.
      return new NalDepacketizer(h265Payloads(Number(parameters["sprop-max-don-diff"] ?? 0) > 0));
    case "aac":
      return new AacDepacketizer(track, parameters);
    case "opus":
      return new PlainDepacketizer(1);
    case "pcmu":
    case "pcma":
      return new PlainDepacketizer(track.channels);
    default:
      return track satisfies never;
  }
}

/** Opus and G.711: a payload is a frame, whose length is a multiple of `unitBytes`. */
class PlainDepacketizer implements Depacketizer {
  dropped = 0;
  readonly heldBytes = 0;
  readonly #unitBytes: number;

  constructor(unitBytes: number) {
    this.#unitBytes = unitBytes;
  }

  giveUp(): void {}

  push(payload: Buffer, timestamp: number): readonly DepacketizedFrame[] {
    if (payload.length > 0 && payload.length % this.#unitBytes === 0) return [{ timestamp, units: [payload], isKey: true }];
    this.dropped++;
    return [];
  }
}
